//! The check of a fleet, and a simulation of one, on a terminal.

use std::io::{self, Write};

use figure::format::counted;
use fleet::Check;
use fleet::simulate::Simulation;

use super::page::Page;
use crate::document::fleet as document;
use crate::format::Options;

pub(crate) fn write(check: &Check, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(options);
    page.title(&format!("truebench fleet: {}", counted(check.read.nodes, "node")));
    page.blocks(&document::blocks(check));
    out.write_all(page.text().as_bytes())
}

pub(crate) fn simulation(simulation: &Simulation, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(options);
    page.title(&format!("truebench fleet simulate: {}", counted(simulation.plan.nodes, "node")));
    page.blocks(&document::simulation(simulation));
    out.write_all(page.text().as_bytes())
}
