//! Annotations for which a recording has no use. They are here because programs that call them must link.

macro_rules! without_effect {
    ($($name:ident)*) => {$(
        #[allow(non_snake_case)]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> usize {
            0
        }
    )*};
}

without_effect! {
    __tsan_external_register_tag
    __tsan_external_register_header
    __tsan_external_assign_tag
    __tsan_flush_memory
    __tsan_set_fiber_name
    AnnotateBenignRace
    AnnotateBenignRaceSized
    WTFAnnotateBenignRaceSized
    AnnotateCondVarSignal
    AnnotateCondVarSignalAll
    AnnotateCondVarWait
    AnnotateEnableRaceDetection
    AnnotateExpectRace
    AnnotateFlushExpectedRaces
    AnnotateFlushState
    AnnotateIgnoreSyncBegin
    AnnotateIgnoreSyncEnd
    AnnotateMutexIsNotPHB
    AnnotateMutexIsUsedAsCondVar
    AnnotateNewMemory
    AnnotateNoOp
    AnnotatePCQCreate
    AnnotatePCQDestroy
    AnnotatePCQGet
    AnnotatePCQPut
    AnnotatePublishMemoryRange
    AnnotateThreadName
    AnnotateTraceMemory
    AnnotateUnpublishMemoryRange
    RunningOnValgrind
}
