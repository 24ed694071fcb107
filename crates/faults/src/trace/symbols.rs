//! Names of functions, with inlined calls and lines, from symbols and debug information (blazesym).

use std::collections::HashMap;
use std::path::Path;

use blazesym::symbolize::source::{Elf, Source};
use blazesym::symbolize::{CodeInfo, Input, Symbolized, Symbolizer};
use figure::format::plain_to;
use shm::recording::LIBRARY;

use super::collect::Collector;
use super::frame::Frame;

/// Characters of a name at most: C++ has names of thousands.
const MOST: usize = 120;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name, or the file that it is in.
    pub name: String,
    pub line: Option<String>,
}

/// Functions of each frame, the innermost first; an inlined call is a function of its own.
pub type Names = HashMap<Frame, Vec<Function>>;

pub fn names(frames: impl IntoIterator<Item = Frame>, collector: &Collector) -> Names {
    let mut by_image: HashMap<u32, Vec<u64>> = HashMap::new();
    let mut names = Names::new();
    for frame in frames {
        match frame {
            (Some(image), address) => by_image.entry(image).or_default().push(address),
            (None, _) => {
                names.insert(frame, vec![Function { name: "[no file]".to_owned(), line: None }]);
            }
        }
    }
    let symbolizer = Symbolizer::builder().enable_code_info(true).enable_inlined_fns(true).build();
    for (image, mut addresses) in by_image {
        addresses.sort_unstable();
        addresses.dedup();
        let Some((name, file)) = collector.frames.images.get(image as usize) else { continue };
        let source = Source::Elf(Elf::new(&file.path));
        let look_up = || symbolizer.symbolize(&source, Input::VirtOffset(&addresses)).unwrap_or_default();
        let symbols = if file.is_sound { look_up() } else { Vec::new() };
        let short = Path::new(&**name)
            .file_name()
            .map_or_else(|| name.to_string(), |name| name.to_string_lossy().into());
        for (place, address) in addresses.iter().enumerate() {
            let mut functions = symbols.get(place).map(functions_of_symbol).unwrap_or_default();
            if short == LIBRARY {
                // The recorder's own functions are of no interest, only the one that the program called.
                functions.drain(..functions.len().saturating_sub(1));
            }
            let nameless = || vec![Function { name: format!("[{}]", plain_to(&short, MOST)), line: None }];
            let functions = if functions.is_empty() { nameless() } else { functions };
            names.insert((Some(image), *address), functions);
        }
    }
    names
}

/// The functions of these frames, the innermost first; recursive and unnamed functions appear once.
pub fn functions<'a>(frames: &[Frame], names: &'a Names) -> Vec<&'a Function> {
    let mut all: Vec<&Function> = frames.iter().filter_map(|frame| names.get(frame)).flatten().collect();
    all.dedup_by(|a, b| a.name == b.name);
    all
}

fn functions_of_symbol(symbolized: &Symbolized) -> Vec<Function> {
    let Symbolized::Sym(symbol) = symbolized else { return Vec::new() };
    let function =
        |name: &str, code: Option<&CodeInfo>| Function { name: plain_to(name, MOST), line: code.map(line) };
    // Inlined calls come from the outermost to the innermost; the code of each is where it was called from.
    let mut all = vec![function(&symbol.name, symbol.code_info.as_deref())];
    all.extend(symbol.inlined.iter().map(|inlined| function(&inlined.name, inlined.code_info.as_ref())));
    all.reverse();
    // A part of a function that the compiler split off has the same name.
    all.dedup_by(|a, b| a.name == b.name);
    all
}

fn line(code: &CodeInfo) -> String {
    let file = plain_to(&code.file.to_string_lossy(), MOST);
    code.line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"))
}
