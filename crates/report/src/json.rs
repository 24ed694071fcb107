//! The record itself.

use std::io::{self, Write};

use figure::Record;

use crate::{Format, Options};

pub(crate) const FORMAT: Format =
    Format { name: "json", about: "the record, exactly and whole (see truebench schema)", write };

fn write(record: &Record, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, record)?;
    out.write_all(b"\n")
}
