//! The calls of a function, found by taking its instructions apart.
//!
//! Compilers call a hook directly, through a slot of the linker, or through a register that they loaded from such a slot some time
//! before. Which register holds what is followed in the order of the code, which is nearly always that of execution.

use std::collections::HashMap;

use iced_x86::{
    Code as Opcode, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register,
};

use super::Call;
use super::callees::{Code, Function};

impl Code {
    /// In the order of their addresses.
    pub fn calls_of(&self, function: &Function) -> Vec<Call> {
        let decoder = || {
            let bytes = self.bytes_of(function);
            Decoder::with_ip(64, bytes, function.address, DecoderOptions::NONE)
        };
        let loaded = Loaded::of(self, decoder());
        let mut now: HashMap<Register, String> = HashMap::new();
        let mut calls = Vec::new();
        for instruction in &mut decoder() {
            if is_call(&instruction) {
                let callee = self.callee(&instruction, &now, &loaded);
                calls.push(Call { return_address: instruction.next_ip(), callee });
            }
            follow(self, &instruction, &mut now);
        }
        calls
    }

    fn callee(
        &self,
        call: &Instruction,
        now: &HashMap<Register, String>,
        loaded: &Loaded,
    ) -> Option<String> {
        match call.op0_kind() {
            OpKind::NearBranch64 => self.name_at(call.near_branch_target()),
            OpKind::Memory if call.is_ip_rel_memory_operand() => {
                self.name_in_slot(call.ip_rel_memory_address())
            }
            OpKind::Register => {
                let register = call.op0_register();
                now.get(&register).cloned().or_else(|| loaded.only_one(register))
            }
            _ => None,
        }
    }
}

fn is_call(instruction: &Instruction) -> bool {
    matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
}

/// The function whose address an instruction loads from a slot, and the register it puts it into.
fn load(code: &Code, instruction: &Instruction) -> Option<(Register, String)> {
    let is_load =
        instruction.code() == Opcode::Mov_r64_rm64 && instruction.is_ip_rel_memory_operand();
    let name = is_load.then(|| code.name_in_slot(instruction.ip_rel_memory_address()))??;
    Some((instruction.op0_register(), name))
}

fn follow(code: &Code, instruction: &Instruction, now: &mut HashMap<Register, String>) {
    if let Some((register, name)) = load(code, instruction) {
        now.insert(register, name);
    } else if let Some(register) = written(instruction) {
        now.remove(&register);
    }
}

/// The register that an instruction writes. A `pop` is the end of one way through a function: the others go on with the old value.
fn written(instruction: &Instruction) -> Option<Register> {
    let only_looks = matches!(
        instruction.mnemonic(),
        Mnemonic::Cmp
            | Mnemonic::Test
            | Mnemonic::Push
            | Mnemonic::Pop
            | Mnemonic::Call
            | Mnemonic::Jmp
    );
    let is_register = instruction.op_count() > 0 && instruction.op0_kind() == OpKind::Register;
    (is_register && !only_looks).then(|| instruction.op0_register().full_register())
}

/// Everything that is ever loaded into a register in a function.
struct Loaded(HashMap<Register, Vec<String>>);

impl Loaded {
    fn of(code: &Code, mut decoder: Decoder<'_>) -> Loaded {
        let mut all: HashMap<Register, Vec<String>> = HashMap::new();
        for (register, name) in decoder.iter().filter_map(|instruction| load(code, &instruction)) {
            let names = all.entry(register).or_default();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Loaded(all)
    }

    /// What a register holds if it ever holds an address of a function.
    fn only_one(&self, register: Register) -> Option<String> {
        match &self.0.get(&register)?[..] {
            [name] => Some(name.clone()),
            _ => None,
        }
    }
}
