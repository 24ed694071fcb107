//! Enums of kinds that are counted: listed in order, each with a text for people.

macro_rules! kinds {
    ($(#[$attribute:meta])* $name:ident { $($(#[$doc:meta])* $kind:ident = $text:literal,)* }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $(#[$attribute])*
        pub enum $name {
            $($(#[$doc])* $kind,)*
        }

        impl $name {
            /// In the order of their counts.
            pub const ALL: [$name; [$($text),*].len()] = [$($name::$kind),*];

            pub const fn text(self) -> &'static str {
                match self {
                    $($name::$kind => $text,)*
                }
            }
        }
    };
}

pub(crate) use kinds;
