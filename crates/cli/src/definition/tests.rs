use super::*;
use crate::effect;

/// The reference in docs/commands.md: between these lines.
const BEGIN: &str = "<!-- from crates/cli: begin -->\n";
const END: &str = "<!-- from crates/cli: end -->";
const DOCS: &str = include_str!("../../../../docs/commands.md");

/// Every command but truebench itself, with its path.
fn all() -> Vec<(String, Command)> {
    fn collect(command: &Command, path: &str, all: &mut Vec<(String, Command)>) {
        for sub in command.get_subcommands() {
            let path = below(path, sub.get_name());
            all.push((path.clone(), sub.clone()));
            collect(sub, &path, all);
        }
    }
    let mut commands = Vec::new();
    collect(&definition(), "", &mut commands);
    commands
}

/// The words of an example: as a shell cuts them where nothing but single quotes are used, up to a pipe.
fn words(line: &str) -> Vec<String> {
    let line = line.split(" | ").next().unwrap_or(line);
    line.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect()
}

#[test]
fn the_definition_holds_together() {
    definition().debug_assert();
    visible().debug_assert();
}

#[test]
fn each_command_has_two_examples_that_are_understood() {
    let paths: Vec<String> = all().into_iter().map(|(path, _)| path).collect();
    for path in &paths {
        assert_eq!(examples::of(path).len(), 2, "{path}");
    }
    for (path, _) in examples::EXAMPLES {
        assert!(path.is_empty() || paths.iter().any(|known| known == path), "{path}: no such command");
        for example in examples::of(path) {
            let line = example.line;
            let matches = definition().try_get_matches_from(words(&line));
            let matches = matches.unwrap_or_else(|error| panic!("{line}: {error}"));
            let args = <Args as clap::FromArgMatches>::from_arg_matches(&matches).unwrap();
            let command = args.command.expect("a command");
            effect::check(&command, &matches).unwrap_or_else(|why| panic!("{line}: {}", why.message()));
        }
    }
}

#[test]
fn help_shows_the_examples() {
    for (path, mut command) in all() {
        let help = command.render_long_help().to_string();
        assert!(help.contains("Examples:") && help.contains(&examples::of(&path)[0].line), "{path}: {help}");
    }
}

#[test]
fn the_docs_list_every_command_with_its_examples() {
    let mut reference = String::new();
    for (path, command) in all() {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let examples = examples::of(&path);
        let width = examples.iter().map(|example| example.line.chars().count()).max().unwrap_or(0) + 3;
        reference += &format!("### truebench {path}\n\n{about}.\n\n");
        for example in examples {
            reference += &format!("    {:width$}{}\n", example.line, example.purpose);
        }
        reference += "\n";
    }
    let docs = DOCS.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END)).map(|(text, _)| text);
    assert!(docs == Some(reference.as_str()), "between the marks of docs/commands.md belongs:\n{reference}");
}

#[test]
fn a_mode_that_is_not_there_is_refused_with_those_that_are() {
    for (line, parts) in [
        ("truebench nonsense", &["no command 'nonsense'", "memory", "completions"][..]),
        ("truebench memory latncy", &["memory: no mode 'latncy'", "bandwidth, mix", "latency", "inspect"]),
        ("truebench memory --quick latency", &["mode comes first: truebench memory latency"]),
        ("truebench faults dmo", &["faults: no mode 'dmo'", "demo, prices", "-- COMMAND"]),
        ("truebench http lst", &["http: no mode 'lst'", "study, load, list, null, serve"]),
        ("truebench system swich", &["no such mode or test", "index, switch, cores, noise", "pipe"]),
        ("truebench system pipe switch", &["mode comes first: truebench system switch"]),
        ("truebench alloc lst", &["no such mode or allocator", "load, list, try, record", "jemalloc"]),
    ] {
        let words = words(line);
        let error = definition().try_get_matches_from(&words).expect_err(line);
        let message = wrong_mode(&error, &words).unwrap_or_else(|| error.to_string());
        assert!(parts.iter().all(|part| message.contains(part)), "{line}: {message}");
    }
}

#[test]
fn choices_are_listed() {
    let values = |path: &[&str], id: &str| -> Vec<String> {
        let definition = definition();
        let command = path.iter().fold(&definition, |command, name| command.find_subcommand(name).unwrap());
        let option = command.get_arguments().find(|option| option.get_id().as_str() == id);
        let option = option.expect("the option");
        option.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect()
    };
    let formats: Vec<&str> = report::FORMATS.iter().map(|format| format.name).collect();
    assert_eq!(values(&["memory", "latency"], "format"), formats);
    assert_eq!(values(&["memory", "bandwidth"], "pages"), ["default", "small", "thp", "huge2m", "huge1g"]);
    assert!(values(&["system"], "tests").contains(&"pipe".to_owned()));
    assert!(values(&["alloc", "try"], "allocators").contains(&"jemalloc".to_owned()));
    assert!(values(&["explain"], "what").contains(&"array-size".to_owned()));
    assert!(values(&["memory", "all"], "only").contains(&"c2c".to_owned()));
}
