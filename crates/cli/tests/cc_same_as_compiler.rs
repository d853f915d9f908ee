//! Every way to call a compiler gives the same exit code, output and files through the wrapper.

mod cc_support;

use cc_support::{CLANG, CLANG_16, Family, GCC, Project};

/// A script over the project, and the files in which the wrapper must leave our hooks.
struct Form {
    name: &'static str,
    script: &'static str,
    instrumented: &'static [&'static str],
}

const fn form(
    name: &'static str,
    script: &'static str,
    instrumented: &'static [&'static str],
) -> Form {
    Form { name, script, instrumented }
}

const FORMS: &[Form] = &[
    form("one step", "$CC main.c part.c -o prog -lpthread && ./prog", &["prog"]),
    form("one step to a.out", "$CC lonely.c && ./a.out", &["a.out"]),
    form("compile only", "$CC -c main.c part.c", &["main.o", "part.o"]),
    form(
        "compile, then link",
        "$CC -c main.c && $CC -c part.c && $CC -o prog main.o part.o -pthread && ./prog",
        &["prog"],
    ),
    form("joined output name", "$CC -c part.c -oother.o", &["other.o"]),
    form("separate long output name", "$CC -c part.c --output other.o", &["other.o"]),
    form(
        "spaces in paths",
        "$CC -c 'with space/one more.c' -o 'with space/the object.o'",
        &["with space/the object.o"],
    ),
    form(
        "several sources and objects",
        "$CC -c part.c && $CC main.c part.o 'with space/one more.c' -o prog && ./prog",
        &["prog"],
    ),
    form("to assembly", "$CC -S part.c && $CC -c part.s", &["part.s", "part.o"]),
    form("assembly input", "$CC main.c assembly.s -o prog && ./prog", &["prog"]),
    form("assembly alone", "$CC -c assembly.s && $CC -Wall -Werror -c preprocessed.S", &[]),
    form("preprocess", "$CC -E part.c && $CC -E part.c -o part.i", &[]),
    form(
        "preprocessed input",
        "$CC -E main.c -o main.i && $CC main.i part.c -o prog && ./prog",
        &["prog"],
    ),
    form("stdin", "$CC -x c -c - -o stdin.o < part.c && $CC -E - < part.c", &["stdin.o"]),
    form("stdin to executable", "$CC -x c - < lonely.c && ./a.out", &["a.out"]),
    form("language", "cp part.c part.txt && $CC -x c part.txt main.c -o prog && ./prog", &["prog"]),
    form(
        "language and back",
        "cp lonely.c lonely.txt && $CC -c part.c && $CC -xc lonely.txt -x none part.o -o prog && ./prog",
        &["prog"],
    ),
    form("c++", "$CXX threads.cpp -o prog -pthread; ./prog", &["prog"]),
    form("c++ in two steps", "$CXX -c threads.cpp && $CXX threads.o -o prog && ./prog", &["prog"]),
    form("c compiled as c++", "$CXX -c part.c && nm part.o | grep _Z4parti", &["part.o"]),
    form(
        "shared object",
        "$CC -shared -fPIC part.c -o libpart.so && $CC main.c -L. -lpart -Wl,-rpath,. -o prog && ./prog",
        &["prog", "libpart.so"],
    ),
    form(
        "shared object without undefined names",
        "$CC -shared -fPIC part.c -Wl,-z,defs -o libpart.so -lc",
        &["libpart.so"],
    ),
    form(
        "no-undefined spelled otherwise",
        "$CC -shared -fPIC part.c -Wl,--no-undefined -o one.so && $CC -shared -fPIC part.c -Xlinker -z -Xlinker defs -o two.so && $CC -shared -fPIC part.c -z defs -o three.so",
        &["one.so", "two.so", "three.so"],
    ),
    form(
        "a missing name in a shared object is still an error",
        "$CC -g -O1 -shared -fPIC needs_missing.c -Wl,-z,defs -o bad.so 2>&1 | grep -o 'missing_function' | sort -u",
        &[],
    ),
    form(
        "plug-in",
        "$CC -shared -fPIC plugin.c -o plugin.so && $CC host.c -ldl -o host && ./host",
        &["plugin.so", "host"],
    ),
    form(
        "relocatable",
        "$CC -c main.c part.c && $CC -r -o all.o main.o part.o && $CC all.o -o prog && ./prog",
        &["all.o", "prog"],
    ),
    form(
        "relocatable by the linker's option",
        "$CC -c main.c part.c && $CC -nostdlib -Wl,-r -no-pie -o all.o main.o part.o && $CC all.o -o prog && ./prog",
        &["prog"],
    ),
    form(
        "static archive",
        "$CC -c part.c && ar rcs libpart.a part.o && $CC main.c libpart.a -o prog && ./prog && $CC main.c -L. -l part -o again && ./again",
        &["prog"],
    ),
    form("static", "$CC -static main.c part.c -o prog && ./prog", &["prog"]),
    form("static c++", "$CXX -static threads.cpp -o prog && ./prog", &["prog"]),
    form("static-pie", "$CC -static-pie -fPIE main.c part.c -o prog && ./prog", &["prog"]),
    form("no-pie", "$CC -no-pie -fno-pie main.c part.c -o prog && ./prog", &["prog"]),
    form(
        "response files",
        "printf '%s' '-c \"with space/one more.c\" -o more.o' > inner.rsp; echo '@inner.rsp -O2' > outer.rsp; $CC @outer.rsp",
        &["more.o"],
    ),
    form(
        "response file for the link",
        "$CC -c main.c part.c && echo 'main.o part.o -o prog' > objects.rsp && $CC @objects.rsp && ./prog",
        &["prog"],
    ),
    form("missing response file", "$CC -c @missing.rsp", &[]),
    form(
        "dependencies beside the object",
        "$CC -MD -c part.c && cat part.d && $CC -MMD -MF deps -MT target -c main.c && cat deps && $CC -MMD -MP main.c part.c -o prog",
        &["part.o", "prog"],
    ),
    form(
        "dependencies only",
        "$CC -MM main.c && $CC -MM -MG main.c -o main.dep && $CC -M part.c",
        &[],
    ),
    form("syntax only", "$CC -fsyntax-only main.c broken.c", &[]),
    form("saved temporaries", "$CC -save-temps main.c part.c -o prog && ./prog", &["prog"]),
    form(
        "saved temporaries of one object",
        "$CC -save-temps=obj -c part.c -o 'with space/part.o'",
        &["with space/part.o"],
    ),
    form(
        "split debug information",
        "$CC -g -gsplit-dwarf main.c part.c -o prog && $CC -g -gsplit-dwarf -c part.c",
        &["prog"],
    ),
    form("pipe", "$CC -pipe main.c part.c -o prog && ./prog", &["prog"]),
    form(
        "link-time optimisation of objects",
        "$CC -O2 -flto -c main.c part.c && $CC -O2 -flto main.o part.o -o prog && ./prog",
        &["prog"],
    ),
    form(
        "link-time optimisation in one step",
        "$CC -flto main.c part.c -o prog && ./prog",
        &["prog"],
    ),
    form(
        "levels and debug information of the user's",
        "for flags in -O0 -O3 -Os -g0 -g3 '-O2 -g'; do $CC $flags main.c part.c -o prog && ./prog; done",
        &["prog"],
    ),
    form(
        "precompiled header",
        "$CC -O1 common.h && $CC -O1 -c -include common.h uses_common.c && $CC uses_common.o && ./a.out",
        &["a.out"],
    ),
    form("precompiled header by language", "$CC -x c-header -c common.h -o pre.gch", &[]),
    form(
        "linker script as input",
        "$CC -c part.c && $CC main.c inputs.ld -o prog && ./prog",
        &["prog"],
    ),
    form(
        "linker options",
        "$CC main.c part.c -Wl,--as-needed,--gc-sections -Wl,-Map=prog.map -s -o prog && ./prog",
        &["prog"],
    ),
    form(
        "no standard libraries, but libc",
        "$CC -nostartfiles -nodefaultlibs \"$($CC -print-file-name=crt1.o)\" \"$($CC -print-file-name=crti.o)\" \"$($CC -print-file-name=crtn.o)\" -no-pie main.c part.c -lc -lgcc -o prog && ./prog",
        &["prog"],
    ),
    form(
        "freestanding",
        "$CC -ffreestanding -nostdlib -static freestanding.c -o prog; ./prog",
        &[],
    ),
    form("no standard library in one step", "$CC -nostdlib freestanding.c -o prog; ./prog", &[]),
    form(
        "undefined behaviour sanitizer",
        "$CC -fsanitize=undefined main.c part.c -o prog && ./prog",
        &["prog"],
    ),
    form(
        "thread sanitizer of the user's",
        "$CC -c part.c && echo '-fsanitize=undefined,thread' > flags.rsp && $CC @flags.rsp main.c part.o -o prog && ./prog",
        &["prog"],
    ),
    form("openmp", "$CC -fopenmp -c part.c", &["part.o"]),
    form("coverage", "$CC --coverage -O0 main.c part.c -o prog && ./prog", &["prog"]),
    form("own malloc", "$CC -fno-builtin own_malloc.c -o prog && ./prog", &["prog"]),
    form("syntax error", "$CC -c broken.c", &[]),
    form("errors in one of two sources", "$CC broken.c part.c -o prog", &[]),
    form("warnings", "$CC -Wall -Wextra -c warning.c && $CC -Wall -Werror -c warning.c", &[]),
    form(
        "warnings only optimisation finds are no errors",
        "$CC -Wall -Wextra -Werror -c uninitialised.c",
        &[],
    ),
    form("fences are no errors", "$CC -Wall -Werror fence.c && ./a.out", &["a.out"]),
    form("undefined name in an executable", "$CC -g -O1 undefined.c -o prog; ls", &[]),
    form("missing input", "$CC -c missing.c; $CC missing.o -o prog", &[]),
    form("unknown option", "$CC -c --no-such-option part.c; $CC -fno-such-option -c part.c", &[]),
    form("no input", "$CC; $CC -c; $CC -o prog", &[]),
    form("unwritable output", "$CC -c part.c -o no/such/folder/part.o", &[]),
    form(
        "questions",
        "$CC --version; $CC -dumpversion; $CC -dumpmachine; $CC -print-search-dirs; $CC -print-file-name=libc.so; $CC -print-prog-name=ld; $CXX --version",
        &[],
    ),
    form("questions with a file", "$CC --version main.c; $CC -print-libgcc-file-name main.c", &[]),
    form("verbose without input", "$CC -v", &[]),
    form("linker's version", "$CC -Wl,--version", &[]),
    form(
        "predefined macros of the user's",
        "$CC -DX='\"a b\"' -D Y=1 -UZ -include part.h -c part.c",
        &["part.o"],
    ),
    form(
        "exclusion of one file",
        "$CC -fno-sanitize=thread -c part.c && ! nm part.o | grep tsan",
        &[],
    ),
    form(
        "other linkers",
        "for ld in bfd gold lld mold; do command -v ld.$ld >/dev/null && $CC -fuse-ld=$ld main.c part.c -o prog && ./prog; $CC -fuse-ld=$ld -shared -fPIC part.c -Wl,-z,defs -o libpart.so; done 2>&1 | grep -v 'ld.*not found\\|cannot find\\|invalid linker name'",
        &[],
    ),
];

/// What depends on a compiler's version: flags it may not know or may warn about.
const FORMS_FOR_ANOTHER_VERSION: &[&str] = &[
    "one step",
    "compile only",
    "assembly alone",
    "preprocess",
    "c++",
    "shared object without undefined names",
    "plug-in",
    "static",
    "dependencies beside the object",
    "saved temporaries",
    "split debug information",
    "link-time optimisation of objects",
    "precompiled header",
    "undefined behaviour sanitizer",
    "warnings",
    "unknown option",
    "no input",
];

fn forms_are_the_same<'a>(family: Family, forms: impl Iterator<Item = &'a Form>) {
    if family.is_missing() {
        return;
    }
    let differences: Vec<String> = forms.filter_map(|form| difference(family, form)).collect();
    assert!(
        differences.is_empty(),
        "{} forms differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

fn difference(family: Family, form: &Form) -> Option<String> {
    let plain = Project::new().run_plain(family, form.script);
    let project = Project::new();
    let wrapped = project.run_wrapped(family, form.script);
    if plain != wrapped {
        return Some(format!(
            "--- {}: {}\n{}",
            form.name,
            form.script,
            wrapped.differences_from(&plain)
        ));
    }
    let bare = form.instrumented.iter().find(|file| !project.contains(file, HOOK));
    bare.map(|file| format!("--- {}: {file} has no hooks", form.name))
}

const HOOK: &str = "__tsan_func_entry";

#[test]
fn gcc_and_its_wrapper_do_the_same() {
    forms_are_the_same(GCC, FORMS.iter());
}

#[test]
fn clang_and_its_wrapper_do_the_same() {
    forms_are_the_same(CLANG, FORMS.iter());
}

#[test]
fn newer_clang_and_its_wrapper_do_the_same() {
    let forms: Vec<&Form> =
        FORMS.iter().filter(|form| FORMS_FOR_ANOTHER_VERSION.contains(&form.name)).collect();
    assert_eq!(forms.len(), FORMS_FOR_ANOTHER_VERSION.len());
    forms_are_the_same(CLANG_16, forms.into_iter());
}
