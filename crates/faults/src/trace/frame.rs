//! Places in code: the calls that led to a fault, or to a call for memory.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::record::Fault;
use super::tasks::Process;
use super::unwind::{Image, Images, Rules};

/// A place in code: the number of its image, or none, and the address as the file states it, or as it was.
pub type Frame = (Option<u32>, u64);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    pub group: u32,
    pub thread: Rc<str>,
    /// Calls, the innermost first.
    pub frames: Box<[Frame]>,
}

/// Finds the calls that led to a fault, and the files that they are in.
#[derive(Default)]
pub struct Frames {
    /// By number, with their names.
    pub images: Vec<(Rc<str>, Arc<Image>)>,
    by_name: HashMap<Rc<str>, Option<u32>>,
    files: Images,
    rules: Rules,
}

impl Frames {
    /// Where the programs' files are on another machine.
    pub fn without_files() -> Frames {
        Frames { files: Images::none(), ..Frames::default() }
    }

    /// The innermost first.
    pub fn of(&mut self, fault: &Fault, process: &Process) -> Box<[Frame]> {
        let frames =
            process.stacks.borrow_mut().unwind(fault, &process.space, &mut self.files, &mut self.rules);
        frames.into_iter().map(|address| self.frame(fault.process, process, address)).collect()
    }

    fn frame(&mut self, number: u32, process: &Process, address: u64) -> Frame {
        let frame = process.space.find(address).and_then(|(start, area)| {
            let image = self.image(number, &area.name.clone())?;
            let stated =
                self.images.get(image as usize)?.1.stated((address - start).wrapping_add(area.offset))?;
            Some((Some(image), stated))
        });
        frame.unwrap_or((None, address))
    }

    fn image(&mut self, process: u32, name: &Rc<str>) -> Option<u32> {
        if let Some(number) = self.by_name.get(name) {
            return *number;
        }
        let image = if name.starts_with('/') { self.files.get(process, name) } else { None };
        let number = image.map(|image| {
            self.images.push((name.clone(), image));
            (self.images.len() - 1) as u32
        });
        self.by_name.insert(name.clone(), number);
        number
    }
}
