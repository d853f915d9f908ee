//! What a written type says about a value: whose fields it has, and whose its elements have.

use serde::{Deserialize, Serialize};
use syn::{GenericArgument, PathArguments, ReturnType, Type};

/// The type of a value, as far as fields go.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Known {
    /// Without references, smart pointers, locks and parameters.
    pub name: String,
    /// Of a collection, what it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<Box<Known>>,
}

impl Known {
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), element: None }
    }

    /// What is found by looking into it: an element, or itself if it is no collection.
    pub fn inside(self) -> Self {
        self.element.map_or_else(|| Self { name: self.name, element: None }, |inner| *inner)
    }

    /// How many collections are inside of each other.
    fn depth(&self) -> usize {
        std::iter::successors(self.element.as_ref(), |inner| inner.element.as_ref()).count()
    }
}

/// Collections in collections that are told apart: whoever goes through these types may go one call deeper for each.
const DEEPEST: usize = 16;

/// What a value can be reached through without a field's name.
const TRANSPARENT: [&str; 31] = [
    "Box",
    "Rc",
    "Arc",
    "Weak",
    "Ref",
    "RefMut",
    "Mutex",
    "MutexGuard",
    "RwLock",
    "RwLockReadGuard",
    "RwLockWriteGuard",
    "OwnedMutexGuard",
    "ReentrantMutex",
    "RefCell",
    "Cell",
    "UnsafeCell",
    "SyncUnsafeCell",
    "OnceLock",
    "OnceCell",
    "LazyLock",
    "LazyCell",
    "Lazy",
    "Option",
    "Result",
    "Pin",
    "Cow",
    "NonNull",
    "AtomicPtr",
    "ManuallyDrop",
    "MaybeUninit",
    "CachePadded",
];

/// Collections whose last parameter is what they hold.
const COLLECTIONS: [&str; 10] = [
    "Vec",
    "VecDeque",
    "HashMap",
    "BTreeMap",
    "HashSet",
    "BTreeSet",
    "BinaryHeap",
    "LinkedList",
    "IndexMap",
    "SmallVec",
];

pub fn is_transparent(name: &str) -> bool {
    TRANSPARENT.contains(&name)
}

/// What a type says; nothing of tuples, functions, and types that only the compiler knows.
pub fn known_type(of: &Type) -> Option<Known> {
    match of {
        Type::Reference(reference) => known_type(&reference.elem),
        Type::Ptr(pointer) => known_type(&pointer.elem),
        Type::Paren(inner) => known_type(&inner.elem),
        Type::Group(inner) => known_type(&inner.elem),
        Type::Array(array) => Some(collection("[]", known_type(&array.elem))),
        Type::Slice(slice) => Some(collection("[]", known_type(&slice.elem))),
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let name = last.ident.to_string();
            let mut parameters = parameters(&last.arguments);
            // `Result<T, E>`, `Ref<'_, T>`, `OnceCell<T>`: the first one. Without any it is a type of the code base.
            if is_transparent(&name)
                && let Some(inner) = parameters.next()
            {
                return known_type(inner);
            }
            if COLLECTIONS.contains(&name.as_str()) {
                return Some(collection(&name, parameters.last().and_then(known_type)));
            }
            Some(Known::named(&name))
        }
        _ => None,
    }
}

fn collection(name: &str, element: Option<Known>) -> Known {
    let element = element.filter(|element| element.depth() < DEEPEST);
    Known { name: name.to_owned(), element: element.map(Box::new) }
}

fn parameters(arguments: &PathArguments) -> impl Iterator<Item = &Type> {
    let all = match arguments {
        PathArguments::AngleBracketed(all) => Some(&all.args),
        _ => None,
    };
    all.into_iter().flatten().filter_map(|argument| match argument {
        GenericArgument::Type(of) => Some(of),
        _ => None,
    })
}

/// What a function gives back.
pub fn known_result(output: &ReturnType) -> Option<Known> {
    match output {
        ReturnType::Default => None,
        ReturnType::Type(_, of) => known_type(of),
    }
}
