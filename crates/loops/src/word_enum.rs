//! Enums with a word for each variant.

/// Makes an enum with one word for each variant: on the command line, in ids, in records and in setups.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $visible:vis enum $name:ident { $($(#[$about:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        $visible enum $name {
            $($(#[$about])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            pub fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }
    };
}
