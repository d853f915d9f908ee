//! What libclang's trees become. Needs libclang 16 or newer; without it nothing is tested here, unless `CI` is set.

mod c_support;

use c_support::{accesses, assert_accesses, read, read_together};

#[test]
fn fields_and_globals_are_read_written_both_or_given_away() {
    let text = "
        struct cache { int table; int empty; int hits; int name[4]; };
        int total; static int limit; const int most = 3;
        void take(int *); void show(const int *);
        int f(struct cache *c) {
            c->table = c->empty;
            c->hits += 1;
            total++;
            take(&c->empty);
            take(c->name);
            c->name[2] = limit + most;
            return sizeof(c->hits);
        }";
    let expected = [
        "w cache::table",
        "r cache::empty",
        "rw cache::hits",
        "rw total",
        "a cache::empty",
        "a cache::name",
        "w cache::name",
        "r a.c::limit",
    ];
    assert_accesses("a.c", text, "f", &expected);
}

#[test]
fn the_way_to_a_field_is_no_access() {
    let text = "
        struct inner { int x; }; struct outer { struct inner *far; struct inner near, all[3]; };
        int f(struct outer *o) { return o->far->x + o->near.x + o->all[1].x + (o->far != 0); }";
    let expected = ["r inner::x", "r inner::x", "r inner::x", "r outer::far"];
    assert_accesses("a.c", text, "f", &expected);
}

#[test]
fn types_without_a_name_are_called_by_what_encloses_them_and_their_line() {
    let text = "struct value {
            int kind : 3;
            union { int i; double d; };
            struct { int x; } point;
        };
        typedef struct { int n; } list;
        void f(struct value *v, list *l) { v->kind = 1; v->i = 2; v->point.x = 3; l->n = 4; }";
    let expected =
        ["w value::kind", "w value::anonymous@3::i", "w value::anonymous@4::x", "w list::n"];
    assert_accesses("a.c", text, "f", &expected);
}

#[test]
fn conditions_are_those_of_branches_early_returns_and_cases() {
    let text = "
        struct log { int on, state, n, end; };
        void f(struct log *l) {
            if (l->on && l->state == 2) l->n = 1; else l->n = 2;
            if (!l->on) return;
            l->end = 1;
        }
        void g(struct log *l) {
            switch (l->state) {
            case 3: l->n = 1; l->end = 2; break;
            default: l->n = 4;
            }
        }";
    let expected = [
        "r log::on",
        "r log::state",
        "w log::n if log::on and log::state == 2",
        "w log::n",
        "r log::on",
        "w log::end if log::on",
    ];
    assert_accesses("a.c", text, "f", &expected);
    let expected = [
        "r log::state",
        "w log::n if log::state == 3",
        "w log::end if log::state == 3",
        "w log::n",
    ];
    assert_accesses("a.c", text, "g", &expected);
}

#[test]
fn what_a_macro_writes_is_told_from_its_arguments() {
    let text = "
        struct s { int x, y, z; };
        #define BOTH(p) do { (p)->x = 1; (p)->y = 2; } while (0)
        #define SET(place, value) place = value
        void f(struct s *p) { BOTH(p); SET(p->z, p->x); }";
    let Some(sets) = read("a.c", text) else { return };
    assert_eq!(accesses(&sets, "f"), ["w s::x", "w s::y", "w s::z", "r s::x"]);
    let origins: Vec<u32> = sets.functions[0].accesses.iter().map(|access| access.origin).collect();
    assert_ne!(origins[0], 0);
    assert_eq!(origins[0], origins[1], "one macro");
    assert_eq!(&origins[2..], [0, 0], "arguments are the function's own");
}

#[test]
fn classes_templates_methods_and_operators() {
    let text = "
        namespace n {
        struct text { text &operator=(const char *); unsigned size() const; void clear(); };
        template <typename T> struct box { T held; int n; void put(T v) { held = v; n++; } };
        class shop {
            text name_; int count_ = 0; box<int> box_;
            static int open_;
        public:
            shop() : count_(1) {}
            void rename() { name_ = \"x\"; open_++; }
            unsigned look() const { return name_.size(); }
            void empty() { name_.clear(); box_.n = 0; }
        };
        }";
    let Some(sets) = read("a.cc", text) else { return };
    assert_eq!(accesses(&sets, "n::shop::rename"), ["w n::shop::name_", "rw n::shop::open_"]);
    assert_eq!(accesses(&sets, "n::shop::look"), ["r n::shop::name_"]);
    assert_eq!(accesses(&sets, "n::shop::empty"), ["rw n::shop::name_", "w n::box::n"]);
    assert_eq!(accesses(&sets, "n::shop::shop"), ["w n::shop::count_"]);
    assert_eq!(accesses(&sets, "n::box::put"), ["w n::box::held", "rw n::box::n"]);
}

#[test]
fn what_does_not_parse_is_told_and_the_rest_is_read() {
    let text = "
        #include \"missing.h\"
        struct s { int x; };
        void broken(struct s *p) { p->x = ; }
        void whole(struct s *p) { p->x = 1; }";
    let Some(sets) = read("a.c", text) else { return };
    assert_eq!(sets.error_count, 2, "{:?}", sets.errors);
    assert_eq!(accesses(&sets, "whole"), ["w s::x"]);
}

#[test]
fn files_that_are_read_together_are_as_if_each_were_read_alone() {
    // No guard, and a macro of one file that would be another's.
    let header = ("both.h", "struct log { int size; int full; };\n");
    let first = "#include \"both.h\"\n#define FIELD size\nstatic int mine;\nvoid f(struct log *l) { l->FIELD = mine; }\n";
    let second = "#include \"both.h\"\n#ifdef FIELD\n#error left behind\n#endif\nstatic int mine;\nvoid g(struct log *l) { l->full = mine; }\n";
    let Some(parsed) = read_together(&[("a.c", first), ("b.c", second)], &[header]) else { return };
    assert_eq!(parsed.faulty, Vec::<std::path::PathBuf>::new());
    let errors: Vec<usize> = parsed.files.iter().map(|file| file.error_count).collect();
    assert_eq!(errors, [0, 0]);
    assert_eq!(accesses(&parsed.files[0], "f"), ["w log::size", "r a.c::mine"]);
    assert_eq!(accesses(&parsed.files[1], "g"), ["w log::full", "r b.c::mine"]);
}

#[test]
fn an_open_bracket_is_told_so_that_nothing_is_lost_behind_it() {
    let files =
        [("a.c", "int a;\n"), ("b.c", "int f(\n"), ("c.c", "int c;\n"), ("d.c", "int d;\n")];
    let Some(parsed) = read_together(&files, &[]) else { return };
    assert!(matches!(parsed.broken_at, Some(1 | 2)), "{parsed:?}");
    let Some(parsed) = read_together(&files[2..], &[]) else { return };
    assert_eq!(parsed.broken_at, None);
}

#[test]
fn a_file_that_another_stands_in_the_way_of_has_the_error() {
    let first = "static int twice(int a) { return a; }\n";
    let second = "static int twice(long a) { return 2; }\n";
    let Some(parsed) = read_together(&[("a.c", first), ("b.c", second)], &[]) else { return };
    let errors: Vec<bool> = parsed.files.iter().map(|file| file.error_count > 0).collect();
    assert_eq!(errors, [false, true]);
}
