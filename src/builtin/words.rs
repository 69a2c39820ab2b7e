//! The words random names are made of: short, easy to say, without a second meaning.

/// What a thing is like.
pub(super) const ADJECTIVES: [&str; 64] = [
    "amber", "ample", "azure", "bold", "brave", "brief", "bright", "brisk", "calm", "clear",
    "clever", "cosy", "crisp", "curly", "dapper", "deft", "eager", "early", "fair", "fast",
    "fluffy", "fond", "fresh", "gentle", "glad", "golden", "grand", "happy", "hardy", "honest",
    "humble", "jolly", "keen", "kind", "lively", "loyal", "lucky", "mellow", "merry", "mild",
    "neat", "nimble", "noble", "patient", "plucky", "polite", "proud", "quick", "quiet", "ready",
    "rosy", "silver", "smooth", "snowy", "solid", "steady", "sunny", "swift", "tidy", "tiny",
    "vivid", "warm", "wise", "witty",
];

/// What a thing is.
pub(super) const NOUNS: [&str; 64] = [
    "acorn", "alder", "badger", "beacon", "beaver", "birch", "bison", "brook", "canyon", "cedar",
    "cliff", "clover", "comet", "coral", "cove", "crane", "delta", "dune", "ember", "falcon",
    "fern", "finch", "fjord", "forest", "garnet", "glade", "grove", "harbour", "hare", "hazel",
    "heron", "ibex", "island", "ivy", "jay", "juniper", "lagoon", "lantern", "lark", "linden",
    "lynx", "maple", "marten", "meadow", "moss", "otter", "owl", "pebble", "petrel", "pine",
    "plover", "pond", "puffin", "quartz", "raven", "reef", "robin", "sparrow", "spruce", "stork",
    "thistle", "tulip", "willow", "wren",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_distinct_and_fit_host_names() {
        for list in [ADJECTIVES, NOUNS] {
            assert!(
                list.is_sorted_by(|a, b| a < b),
                "sorted, without duplicates"
            );
            for word in list {
                assert!(word.len() <= 8 && word.bytes().all(|b| b.is_ascii_lowercase()));
            }
        }
    }
}
