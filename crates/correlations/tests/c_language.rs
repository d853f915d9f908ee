//! The parts of C and C++ in which fields and globals are touched, one by one. Needs libclang as `c_access_sets` does.

mod c_support;

use c_support::assert_accesses;

const TYPES: &str = "
    struct item { int id, count; };
    struct box { struct item items[4]; struct item *first; int used; union { int whole; short half[2]; } bits; };
";

#[track_caller]
fn assert_c(text: &str, expected: &[&str]) {
    assert_accesses("a.c", &(TYPES.to_owned() + text), "f", expected);
}

#[track_caller]
fn assert_cpp(text: &str, function: &str, expected: &[&str]) {
    assert_accesses("a.cc", text, function, expected);
}

#[test]
fn arrays_of_structs_and_pointers_into_them() {
    let text = "void f(struct box *b, int n) {
        b->items[n].count = b->items[n - 1].id;
        b->first[2].count++;
        for (struct item *at = b->items; at < b->items + b->used; at++) at->id = 0;
    }";
    let expected = [
        "w item::count",
        "r item::id",
        "rw item::count",
        "r box::items",
        "r box::items",
        "r box::used",
        "w item::id",
    ];
    assert_c(text, &expected);
}

#[test]
fn unions_and_their_members() {
    let text = "void f(struct box *b) { b->bits.half[1] = (short) b->bits.whole; }";
    assert_c(text, &["w box::anonymous@3::half", "r box::anonymous@3::whole"]);
}

#[test]
fn conditional_values_commas_and_literals() {
    let text = "void f(struct box *b, int n) {
        b->used = n ? b->first->id : b->items[0].count, b->used += 2;
        struct item one = { .id = b->used, .count = 1 };
        (n ? &b->items[0] : b->first)->count = 3;
    }";
    let expected = [
        "w box::used",
        "r item::id",
        "r item::count",
        "rw box::used",
        "r box::used",
        "w item::count",
        "a box::items",
    ];
    assert_c(text, &expected);
}

#[test]
fn atomics_of_c() {
    let text = "
        _Atomic int hits; struct state { _Atomic int ready; int plain; };
        void f(struct state *s) {
            hits++;
            s->ready = 1;
            __atomic_fetch_add(&s->plain, 1, __ATOMIC_SEQ_CST);
            __c11_atomic_store(&s->ready, 2, __ATOMIC_RELAXED);
            int n = __atomic_load_n(&s->plain, __ATOMIC_ACQUIRE);
            __sync_fetch_and_add(&s->plain, 1);
            *(volatile int *)&s->plain = 3;
            __sync_synchronize();
        }";
    let expected = [
        "rw hits",
        "w state::ready",
        "rw state::plain",
        "w state::ready",
        "r state::plain",
        "rw state::plain",
        "w state::plain",
    ];
    assert_c(text, &expected);
}

#[test]
fn functions_of_headers_and_their_statics() {
    let text = "static int made; static inline int next(struct box *b) { return b->used + made; }
        void f(struct box *b) { b->used = next(b); made = 1; }";
    assert_c(text, &["w box::used", "w a.c::made"]);
}

#[test]
fn lambdas_belong_to_their_function() {
    let text = "struct counter { int n; int seen; void f() {
            auto add = [this](int by) { n += by; };
            add(1);
            auto look = [&] { return seen; };
        } };";
    assert_cpp(text, "counter::f", &["rw counter::n", "r counter::seen"]);
}

#[test]
fn loops_over_ranges_and_structured_bindings() {
    let text = "struct pair { int one; int two; };
        struct all { pair held[3]; int sum; void f(pair &p) {
            for (auto &one : held) { one.two = 1; }
            auto &[a, b] = p;
            sum = a;
        } };";
    assert_cpp(text, "all::f", &["r all::held", "w pair::two", "w all::sum", "r pair::one"]);
}

#[test]
fn constructors_inheritance_and_references() {
    let text = "struct base { int kind; };
        struct derived : base { int size; int *data;
            derived(int n) : base{1}, size(n), data(new int[n]) { kind = 2; }
            ~derived() { delete[] data; size = 0; }
            void f(derived &other) { size = other.size; other.kind++; base::kind = 3; this->size--; }
        };";
    assert_cpp(text, "derived::derived", &["w derived::size", "w derived::data", "w base::kind"]);
    let expected =
        ["w derived::size", "r derived::size", "rw base::kind", "w base::kind", "rw derived::size"];
    assert_cpp(text, "derived::f", &expected);
}

#[test]
fn smart_pointers_atomics_and_operators_of_classes() {
    let text = "template <class T> struct ptr { T *p; T *operator->() const { return p; } T &operator*() const { return *p; } };
        template <class T> struct atomic { T v; T operator++(int); T operator=(T); operator T() const; T load() const; void store(T); T fetch_add(T); };
        struct node { int value; };
        struct list { ptr<node> head; atomic<int> size; atomic<bool> open;
            void f() { head->value = 1; (*head).value++; size++; open = true; size.store(2); int n = size.load() + size; size.fetch_add(1); } };";
    let expected = [
        "w node::value",
        "rw node::value",
        "rw list::size",
        "w list::open",
        "rw list::size",
        "r list::size",
        "r list::size",
        "rw list::size",
    ];
    assert_cpp(text, "list::f", &expected);
}

#[test]
fn templates_static_members_and_nested_classes() {
    let text = "template <class T> struct stack { struct slot { T held; int next; }; slot *slots; int top; static int made;
            template <class U> void push(U v) { slots[top].held = v; slots[top++].next = 0; made++; } };
        template <class T> void drain(stack<T> &s) { s.top = 0; }
        void use(stack<int> &s) { s.push(1L); drain(s); s.top--; }";
    let expected = [
        "w stack::slot::held",
        "r stack::top",
        "w stack::slot::next",
        "rw stack::top",
        "rw stack::made",
    ];
    assert_cpp(text, "stack::push", &expected);
    assert_cpp(text, "drain", &["w stack::top"]);
    assert_cpp(text, "use", &["rw stack::top"]);
}
