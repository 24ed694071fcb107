//! The recorder of large blocks that is preloaded into a program: its setup, and why it may record nothing.

use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::Ordering;

use figure::evidence::*;
use figure::format::{bytes, plain_to};
use figure::{Better, Figure, Unit};
use lab::failure::Failure;
use lab::image::Image;
use lab::preload::recorder::{Recorder, RecorderError};
use shm::blocks::{BYTES, Blocks, MAGIC};

use crate::SUITE;

pub const IN_BLOCKS: &str = "faults.in_blocks";
/// The kinds of blocks with most faults.
pub const SERIES: &str = "faults.blocks";

#[derive(Debug)]
pub struct Recording {
    pub recorder: Recorder,
    /// Bytes of the smallest block that is recorded.
    least: f64,
    /// Why nothing can be preloaded into the program, if so.
    refusal: Option<String>,
    /// An allocator in the program that is not recorded.
    other_allocator: Option<String>,
}

impl Recording {
    /// Prepares a recorder for a program: blocks from so many bytes on.
    pub fn new(program: &Path, least: f64) -> Result<Recording, RecorderError> {
        let recorder = Recorder::new(BYTES)?;
        let memory = recorder.memory();
        // Allocated before the program starts, so that its first touch of each page costs the least.
        rustix::fs::fallocate(memory, rustix::fs::FallocateFlags::empty(), 0, BYTES as u64)
            .map_err(|error| RecorderError::Memory(error.into()))?;
        let blocks = Blocks::map(memory.as_raw_fd())
            .ok_or_else(|| RecorderError::Memory(std::io::Error::last_os_error()))?;
        blocks.head().least.store(least as u64, Ordering::Relaxed);
        blocks.head().magic.store(MAGIC, Ordering::Release);
        let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy();
        let name = plain_to(&name, 60);
        let image = Image::of_program(program);
        let refusal =
            image.as_ref().and_then(Image::preload_obstacle).map(|reason| format!("{name} is {reason}"));
        Ok(Recording {
            recorder,
            least,
            refusal,
            other_allocator: image.and_then(|image| image.built_in_allocator()),
        })
    }

    /// Adds their common conditions to the figures of blocks, or a figure with the reason why there are none.
    pub fn complete(&self, figures: &mut Vec<Figure>, trouble: Option<&Failure>) {
        let is_of_blocks =
            |figure: &&mut Figure| figure.id == IN_BLOCKS || figure.series.as_deref() == Some(SERIES);
        for figure in figures.iter_mut().filter(is_of_blocks) {
            figure.conditions.set(BLOCKS_LEAST, self.least);
            if let (Some(other), IN_BLOCKS) = (&self.other_allocator, figure.id.as_str()) {
                figure.conditions.set(BLOCKS_BESIDES, other.clone());
            }
        }
        if figures.iter().any(|figure| figure.id == IN_BLOCKS) {
            return;
        }
        let name = "faults in large blocks";
        let mut figure = Figure::planned(IN_BLOCKS, SUITE, name, Unit::ONE, Better::Neither);
        figure.conditions.set(BLOCKS_LEAST, self.least);
        figures.push(figure.not_available(match (trouble, &self.refusal) {
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
            other_allocator: Some("own".to_owned()),
        }
    }

    #[test]
    fn a_missing_figure_has_a_reason() {
        let reason = |refusal, trouble: Option<&'static str>| {
            let mut figures = Vec::new();
            recording(refusal).complete(&mut figures, trouble.map(Failure::new).as_ref());
            let figure = figures.pop().unwrap();
            assert_eq!((figure.status, figures.len()), (Status::NotAvailable, 0));
            figure.reason.unwrap()
        };
        assert!(
            reason(Some("x is linked statically"), None).contains("64 KiB and more: x is linked statically")
        );
        assert!(reason(None, None).contains("not loaded"));
        assert!(reason(Some("x"), Some("forbidden")).contains("come from: forbidden"));
    }

    #[test]
    fn observed_figures_get_their_conditions() {
        let whole = Figure::planned(IN_BLOCKS, SUITE, "", Unit::ONE, Better::Neither);
        let mut row = Figure::planned("faults.block.1", SUITE, "", Unit::ONE, Better::Neither);
        row.series = Some(SERIES.to_owned());
        let other = Figure::planned("faults.site.1", SUITE, "", Unit::ONE, Better::Neither);
        let mut figures = vec![whole, row, other];
        recording(None).complete(&mut figures, None);
        let conditions = |place: usize| {
            let conditions = &figures[place].conditions;
            (conditions.get(BLOCKS_LEAST), conditions.get(BLOCKS_BESIDES))
        };
        assert_eq!(conditions(0), (Some(65_536.0), Some("own".to_owned())));
        assert_eq!((conditions(1), conditions(2), figures.len()), ((Some(65_536.0), None), (None, None), 3));
    }
}
