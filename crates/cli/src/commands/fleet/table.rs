//! `fleet check --table`: rows of nodes and figures, in the form and compression that the file's name asks for.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use fleet::Check;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::exit::CommandError;
use crate::output::Target;

/// Bytes of a frame of zstd: a file is many of them, so that it is never whole in memory.
const FRAME: usize = 4 << 20;

/// How a table is compressed.
#[derive(Clone, Copy, Debug)]
enum Packing {
    None,
    Gzip,
    Zstd,
}

/// A table to be written.
#[derive(Debug)]
pub struct Rows {
    target: Target,
    is_csv: bool,
    packing: Packing,
}

impl Rows {
    /// Finds out what the file's name asks for, and whether it can be written.
    ///
    /// # Errors
    /// Wrong usage: another ending, or it cannot be written.
    pub fn check(path: &Path) -> Result<Rows, CommandError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (stem, packing) = match (name.strip_suffix(".gz"), name.strip_suffix(".zst")) {
            (Some(stem), _) => (stem, Packing::Gzip),
            (_, Some(stem)) => (stem, Packing::Zstd),
            _ => (name.as_str(), Packing::None),
        };
        let is_csv = stem.ends_with(".csv");
        if !is_csv && !stem.ends_with(".jsonl") {
            return Err(CommandError::usage(format!(
                "--table {}: end its name in .csv or .jsonl, with .gz or .zst after it to compress it",
                path.display()
            )));
        }
        Ok(Rows { target: Target::check(path)?, is_csv, packing })
    }

    /// Writes the table.
    ///
    /// # Errors
    /// It could not be written.
    pub fn write(&self, check: &Check) -> Result<(), CommandError> {
        self.target.write_with(|out| match self.packing {
            Packing::None => self.rows(check, out),
            Packing::Gzip => {
                let mut packed = GzEncoder::new(out, Compression::fast());
                self.rows(check, &mut packed)?;
                packed.finish().map(drop)
            }
            Packing::Zstd => {
                let mut packed = Frames { out, pending: Vec::with_capacity(FRAME) };
                self.rows(check, &mut packed)?;
                packed.flush()
            }
        })
    }

    fn rows(&self, check: &Check, out: &mut dyn Write) -> io::Result<()> {
        if self.is_csv {
            report::fleet::rows::csv(check, out)
        } else {
            report::fleet::rows::json_lines(check, out)
        }
    }
}

/// Compresses what is written, a frame at a time: a file of zstd may hold several (RFC 8878, 3).
struct Frames<'a> {
    out: &'a mut dyn Write,
    pending: Vec<u8>,
}

impl Write for Frames<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() >= FRAME {
            self.end_frame()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.end_frame()
    }
}

impl Frames<'_> {
    fn end_frame(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.out.write_all(&compress_to_vec(&self.pending[..], CompressionLevel::Fastest))?;
        self.pending.clear();
        Ok(())
    }
}
