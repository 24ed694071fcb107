//! Shell words of a line that may be a command.

/// A word after quotes were taken off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its text.
    pub text: String,
    /// Whether the shell would put something else in its place (`$N`, `$(nproc)`, a backquote): its value is unknown.
    pub expands: bool,
}

/// The simple commands of a line, split at `;`, `|`, `&` and parentheses, without redirections and comments. `None` where a quote is not
/// closed.
pub fn commands(line: &str) -> Option<Vec<Vec<Word>>> {
    let mut all = vec![Vec::new()];
    let mut reader = Reader { rest: line.chars().peekable(), word: None, drops: false };
    while let Some(c) = reader.rest.next() {
        match c {
            '\'' | '"' => reader.quoted(c)?,
            '\\' => {
                let next = reader.rest.next().unwrap_or('\\');
                reader.push(next);
            }
            '$' | '`' => reader.expansion(c),
            '#' if reader.word.is_none() && all.iter().any(|words| !words.is_empty()) => break,
            '>' => reader.redirection(),
            '<' if !reader.is_placeholder() => reader.redirection(),
            '&' if reader.is_in_url() => reader.push(c),
            '&' if reader.rest.peek() == Some(&'>') => reader.end(&mut all),
            ';' | '|' | '&' | '(' | ')' => {
                reader.end(&mut all);
                all.push(Vec::new());
            }
            c if c.is_whitespace() => reader.end(&mut all),
            c => reader.push(c),
        }
    }
    reader.end(&mut all);
    all.retain(|words| !words.is_empty());
    Some(all)
}

/// The last part of a path.
pub fn basename(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or(word)
}

struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    word: Option<Word>,
    /// Whether the next word is the file of a redirection.
    drops: bool,
}

impl Reader<'_> {
    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_with(|| Word { text: String::new(), expands: false })
    }

    fn push(&mut self, c: char) {
        self.word().text.push(c);
    }

    fn end(&mut self, all: &mut [Vec<Word>]) {
        if let (Some(word), Some(last)) = (self.word.take(), all.last_mut())
            && !std::mem::take(&mut self.drops)
        {
            last.push(word);
        }
    }

    fn expansion(&mut self, c: char) {
        let is_name = |next: &char| next.is_alphanumeric() || "_({@*#?!$".contains(*next);
        let expands = c == '`' || self.rest.peek().is_some_and(is_name);
        self.push(c);
        self.word().expands |= expands;
        if c == '$' && self.rest.peek() == Some(&'(') {
            // What is in the parentheses is part of the word.
            let mut depth = 0;
            while let Some(next) = self.rest.next() {
                self.push(next);
                depth += i32::from(next == '(') - i32::from(next == ')');
                if depth == 0 {
                    break;
                }
            }
        }
    }

    /// Up to the quote's end; `None` where there is none.
    fn quoted(&mut self, quote: char) -> Option<()> {
        self.word();
        loop {
            match self.rest.next()? {
                c if c == quote => return Some(()),
                c @ ('$' | '`') if quote == '"' => self.expansion(c),
                '\\' if quote == '"' => {
                    let next = self.rest.next()?;
                    self.push(next);
                }
                c => self.push(c),
            }
        }
    }

    /// `<url>` stands for a word.
    fn is_placeholder(&self) -> bool {
        let mut own = self.rest.clone().take_while(|c| !c.is_whitespace());
        own.any(|c| c == '>')
    }

    fn is_in_url(&mut self) -> bool {
        let follows = self.rest.peek().is_some_and(|c| !c.is_whitespace() && *c != '&' && *c != '>');
        follows && self.word.as_ref().is_some_and(|word| word.text.contains("://"))
    }

    fn redirection(&mut self) {
        // The `>` of a placeholder.
        if self.word.as_ref().is_some_and(|word| word.text.starts_with('<')) {
            return self.push('>');
        }
        // The number of a descriptor.
        if self.word.as_ref().is_some_and(|word| word.text.bytes().all(|byte| byte.is_ascii_digit())) {
            self.word = None;
        }
        while self.rest.peek().is_some_and(|c| matches!(c, '>' | '<' | '&')) {
            self.rest.next();
        }
        self.drops = true;
        while self.rest.peek().is_some_and(|c| c.is_whitespace()) {
            self.rest.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Vec<Vec<String>> {
        let all = commands(line).unwrap_or_default();
        all.into_iter().map(|words| words.into_iter().map(|word| word.text).collect()).collect()
    }

    #[test]
    fn words_as_a_shell_reads_them() {
        for (line, words) in [
            ("hey -c \"100\" 'http://x/?a=1&b=2'", &[&["hey", "-c", "100", "http://x/?a=1&b=2"][..]][..]),
            ("hey http://x/?a=1&b=2 > out.txt 2>&1", &[&["hey", "http://x/?a=1&b=2"]]),
            ("hey http://x &> out.txt", &[&["hey", "http://x"]]),
            ("cd /x && hey <url>; echo done # end", &[&["cd", "/x"], &["hey", "<url>"], &["echo", "done"]]),
            ("hey -c $(nproc --all) x", &[&["hey", "-c", "$(nproc --all)", "x"]]),
            ("a\\ b ''", &[&["a b", ""]]),
            ("", &[]),
        ] {
            assert_eq!(of(line), words, "{line}");
        }
        assert_eq!(commands("it's open"), None);
        let words = &commands("a '$N' \"$N\" $N `x` 5$").unwrap()[0];
        let expands: Vec<bool> = words.iter().map(|word| word.expands).collect();
        assert_eq!(expands, [false, false, true, true, true, false]);
    }
}
