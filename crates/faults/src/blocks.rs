//! Large blocks that a program allocates, told by a recorder that is preloaded into it: what is asked for, and why it cannot be had.

use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::Ordering;

use figure::evidence::*;
use figure::format::{bytes, plain_to};
use figure::{Better, Figure, Unit};
use lab::image::Image;
use lab::preload::recorder::{Recorder, RecorderError};
use shm::blocks::{BYTES, Blocks, MAGIC};

use crate::SUITE;

/// The share of the faults that is in large blocks.
pub const IN_BLOCKS: &str = "faults.in_blocks";
/// The kinds of blocks with most faults.
pub const SERIES: &str = "faults.blocks";

/// The recorder, and what the program's file says about it.
#[derive(Debug)]
pub struct Recording {
    /// What is preloaded.
    pub recorder: Recorder,
    /// Bytes of the smallest block that is told.
    least: f64,
    /// Why nothing can be preloaded into the program, if so.
    refusal: Option<String>,
    /// The allocator that the program has besides the one that is seen.
    besides: Option<String>,
}

impl Recording {
    /// Gets ready for a program: blocks from so many bytes on.
    ///
    /// # Errors
    /// [`RecorderError`].
    pub fn new(program: &Path, least: f64) -> Result<Recording, RecorderError> {
        let recorder = Recorder::new(BYTES)?;
        let memory = recorder.memory();
        // All of it is there before the program needs it: its first touch of each page is then the least that it can be.
        rustix::fs::fallocate(memory, rustix::fs::FallocateFlags::empty(), 0, BYTES as u64)
            .map_err(|error| RecorderError::Memory(error.into()))?;
        let blocks = Blocks::map(memory.as_raw_fd())
            .ok_or_else(|| RecorderError::Memory(std::io::Error::last_os_error()))?;
        blocks.head().least.store(least as u64, Ordering::Relaxed);
        blocks.head().magic.store(MAGIC, Ordering::Release);
        let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy();
        let name = plain_to(&name, 60);
        let image = Image::of(program);
        let refusal = image.as_ref().and_then(Image::refuses).map(|reason| format!("{name} is {reason}"));
        Ok(Recording { recorder, least, refusal, besides: image.and_then(|image| image.own()) })
    }

    /// Completes the figures that were found: what all have in common, or why there are none.
    pub fn complete(&self, found: &mut Vec<Figure>, trouble: Option<&str>) {
        for figure in found.iter_mut().filter(|figure| is_of_blocks(figure)) {
            figure.conditions.set(BLOCKS_LEAST, self.least);
            if let (Some(besides), IN_BLOCKS) = (&self.besides, figure.id.as_str()) {
                figure.conditions.set(BLOCKS_BESIDES, besides.clone());
            }
        }
        if found.iter().any(|figure| figure.id == IN_BLOCKS) {
            return;
        }
        let name = "faults in large blocks";
        let mut figure = Figure::planned(IN_BLOCKS, SUITE, name, Unit::ONE, Better::Neither);
        figure.conditions.set(BLOCKS_LEAST, self.least);
        found.push(figure.not_available(match (trouble, &self.refusal) {
            (Some(trouble), _) => format!("where faults come from: {trouble}"),
            (None, Some(refusal)) => format!("blocks of {} and more: {refusal}", bytes(self.least)),
            (None, None) => format!(
                "blocks of {} and more: the recorder was not loaded: the program's environment was cleared, it runs as another \
                 user or in a container, or its C library is not the recorder's",
                bytes(self.least)
            ),
        }));
    }
}

fn is_of_blocks(figure: &Figure) -> bool {
    figure.id == IN_BLOCKS || figure.series.as_deref() == Some(SERIES)
}

#[cfg(test)]
mod unit {
    use super::*;
    use figure::Status;

    fn recording(refusal: Option<&str>) -> Recording {
        let refusal = refusal.map(str::to_owned);
        Recording {
            recorder: Recorder::new(4096).unwrap(),
            least: 65_536.0,
            refusal,
            besides: Some("own".to_owned()),
        }
    }

    #[test]
    fn why_there_is_none_is_told() {
        let reason = |refusal, trouble| {
            let mut found = Vec::new();
            recording(refusal).complete(&mut found, trouble);
            let figure = found.pop().unwrap();
            assert_eq!((figure.status, found.len()), (Status::NotAvailable, 0));
            figure.reason.unwrap()
        };
        assert!(
            reason(Some("x is linked statically"), None).contains("64 KiB and more: x is linked statically")
        );
        assert!(reason(None, None).contains("not loaded"));
        assert!(reason(Some("x"), Some("forbidden")).contains("come from: forbidden"));
    }

    #[test]
    fn what_was_found_has_its_conditions() {
        let whole = Figure::planned(IN_BLOCKS, SUITE, "", Unit::ONE, Better::Neither);
        let mut row = Figure::planned("faults.block.1", SUITE, "", Unit::ONE, Better::Neither);
        row.series = Some(SERIES.to_owned());
        let other = Figure::planned("faults.site.1", SUITE, "", Unit::ONE, Better::Neither);
        let mut found = vec![whole, row, other];
        recording(None).complete(&mut found, None);
        let of = |place: usize| {
            (found[place].conditions.get(BLOCKS_LEAST), found[place].conditions.get(BLOCKS_BESIDES))
        };
        assert_eq!(of(0), (Some(65_536.0), Some("own".to_owned())));
        assert_eq!((of(1), of(2), found.len()), ((Some(65_536.0), None), (None, None), 3));
    }
}
