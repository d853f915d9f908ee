//! The schemas of what `unpick` prints, for tests.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema").join(name)
}

/// A schema that may refer to the others by their addresses.
pub struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Schema {
    pub fn named(name: &str) -> Schema {
        let mut compiler = Compiler::new();
        for other in ["findings.schema.json", "hang.schema.json", "runs.schema.json"] {
            let text = fs::read_to_string(path(other)).unwrap();
            let schema: Value = serde_json::from_str(&text).unwrap();
            let address = schema["$id"].as_str().unwrap().to_owned();
            compiler.add_resource(&address, schema).unwrap();
        }
        let mut schemas = Schemas::new();
        let index = compiler.compile(path(name).to_str().unwrap(), &mut schemas).unwrap();
        Schema { schemas, index }
    }

    pub fn accepts(&self, value: &Value) -> bool {
        self.schemas.validate(value, self.index).is_ok()
    }

    #[track_caller]
    pub fn assert_valid(&self, value: &Value) {
        if let Err(error) = self.schemas.validate(value, self.index) {
            panic!("{value:#}\n{error:#}");
        }
    }
}

/// The value must be as the schema says.
#[track_caller]
pub fn assert_valid(value: &Value, schema: &str) {
    Schema::named(schema).assert_valid(value);
}
