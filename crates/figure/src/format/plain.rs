//! Text that came from the machine, a URL or a file, made safe to print on a terminal.

/// The most characters of one foreign text that are printed. A host name has at most 64, a CPU's model name
/// 48 (CPUID brand string); a reason with a path stays below 300.
const MAX_CHARS: usize = 400;

/// Foreign text on one line, without anything that could steer a terminal or turn the reading direction:
/// escape sequences and control characters are dropped, white space of any sort becomes a single space, and
/// what is longer than 400 characters ends with `…`.
pub fn plain(text: &str) -> String {
    plain_to(text, MAX_CHARS)
}

/// [`plain`] with another bound, in characters.
pub fn plain_to(text: &str, max_chars: usize) -> String {
    let mut shown = String::new();
    let mut length = 0;
    let mut space = false;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => skip_escape(&mut rest),
            '\u{9b}' => skip_control_sequence(&mut rest),
            _ if c.is_whitespace() => space = true,
            _ if c.is_control() || is_invisible(c) => {}
            _ => {
                if space && length > 0 {
                    shown.push(' ');
                    length += 1;
                }
                space = false;
                if length >= max_chars {
                    shown.truncate(
                        shown.char_indices().nth(max_chars.saturating_sub(1)).map_or(0, |(at, _)| at),
                    );
                    shown.truncate(shown.trim_end().len());
                    shown.push('…');
                    return shown;
                }
                shown.push(c);
                length += 1;
            }
        }
    }
    shown
}

/// Characters that take no room or change the order of their neighbours: bidirectional controls (Unicode
/// TR 9; "Trojan Source", CVE-2021-42574), zero-width characters, variation selectors and tags.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Drops what follows an ESC (ECMA-48, section 5): a control sequence, a string up to its terminator, or
/// one or two characters.
fn skip_escape(rest: &mut std::str::Chars) {
    let mut ahead = rest.clone();
    match ahead.next() {
        Some('[') => {
            *rest = ahead;
            skip_control_sequence(rest);
        }
        // OSC, DCS, SOS, PM, APC: strings that end with BEL or ST (ESC \). Unterminated, nothing of it is shown.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            *rest = ahead;
            while let Some(c) = rest.next() {
                match c {
                    '\u{7}' | '\u{9c}' => return,
                    '\u{1b}' => {
                        let mut ahead = rest.clone();
                        if ahead.next() == Some('\\') {
                            *rest = ahead;
                        }
                        return;
                    }
                    _ => {}
                }
            }
        }
        // Intermediate bytes, then a final one: a character set designation and the like.
        Some(' '..='/') => {
            *rest = ahead;
            while rest.next().is_some_and(|c| matches!(c, ' '..='/')) {}
        }
        Some('0'..='~') => *rest = ahead,
        _ => {}
    }
}

/// Drops the parameters and the final byte of a control sequence (ECMA-48, section 5.4).
fn skip_control_sequence(rest: &mut std::str::Chars) {
    loop {
        let mut ahead = rest.clone();
        match ahead.next() {
            Some(' '..='?') => *rest = ahead,
            Some('@'..='~') => {
                *rest = ahead;
                return;
            }
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_ordinary_stays() {
        assert_eq!(plain("AMD EPYC 9654 96-Core, ±2 %, 測定"), "AMD EPYC 9654 96-Core, ±2 %, 測定");
        assert_eq!(plain("  two\n lines\t"), "two lines");
    }

    #[test]
    fn escape_sequences_go_whole() {
        assert_eq!(plain("\u{1b}[31mred\u{1b}[0m"), "red");
        assert_eq!(plain("\u{1b}]0;title\u{7}host"), "host");
        assert_eq!(plain("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\"), "link");
        assert_eq!(plain("a\u{1b}(Bb\u{1b}cc\u{9b}2Jd"), "abcd");
        assert_eq!(plain("\u{202e}evil\u{200b}"), "evil");
        assert_eq!(plain("cut\u{1b}"), "cut");
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(plain_to("abcdef", 6), "abcdef");
        assert_eq!(plain_to("abcdefg", 6), "abcde…");
        assert_eq!(plain(&"x".repeat(1 << 20)).chars().count(), MAX_CHARS);
    }

    proptest! {
        #[test]
        fn nothing_steers_the_terminal(text in r"(\PC|\p{Cc}|\x1b[\[\]P(]){0,60}", max in 1..40usize) {
            let shown = plain_to(&text, max);
            prop_assert!(shown.chars().count() <= max, "{shown:?}");
            prop_assert!(!shown.chars().any(|c| c.is_control() || is_invisible(c)), "{shown:?}");
            prop_assert_eq!(plain_to(&shown, max), shown.clone(), "idempotent");
        }
    }
}
