//! Aligning two sequences.

/// What becomes of an element: its positions before and after, one of them missing if it comes or goes.
pub(super) type Aligned = (Option<usize>, Option<usize>);

/// Beyond this many comparisons the middle of two sequences is taken as replaced as a whole.
const MAX_COMPARISONS: usize = 4_000_000;

/// Aligns two sequences by their longest common subsequence: common elements in order, and between them first what
/// goes, then what comes.
pub(super) fn align(
    before: usize,
    after: usize,
    same: impl Fn(usize, usize) -> bool,
) -> Vec<Aligned> {
    let shorter = before.min(after);
    let start = (0..shorter).take_while(|i| same(*i, *i)).count();
    let end = (0..shorter - start)
        .take_while(|i| same(before - 1 - i, after - 1 - i))
        .count();
    let (rows, columns) = (before - start - end, after - start - end);
    let mut aligned: Vec<Aligned> = (0..start).map(|i| (Some(i), Some(i))).collect();
    let mut next = (start, start);
    let middle = if rows.saturating_mul(columns) > MAX_COMPARISONS {
        Vec::new()
    } else {
        common(rows, columns, |i, j| same(start + i, start + j))
    };
    let middle = middle.into_iter().map(|(i, j)| (start + i, start + j));
    let tail = (0..end).rev().map(|i| (before - 1 - i, after - 1 - i));
    for (i, j) in middle.chain(tail).chain([(before, after)]) {
        aligned.extend((next.0..i).map(|i| (Some(i), None)));
        aligned.extend((next.1..j).map(|j| (None, Some(j))));
        if (i, j) != (before, after) {
            aligned.push((Some(i), Some(j)));
        }
        next = (i + 1, j + 1);
    }
    aligned
}

/// The longest common subsequence.
fn common(rows: usize, columns: usize, same: impl Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
    let equal: Vec<Vec<bool>> = (0..rows)
        .map(|i| (0..columns).map(|j| same(i, j)).collect())
        .collect();
    // lengths[i][j]: length of the longest common subsequence of what is left from i and from j.
    let mut lengths = vec![vec![0_u32; columns + 1]; rows + 1];
    for i in (0..rows).rev() {
        for j in (0..columns).rev() {
            lengths[i][j] = if equal[i][j] {
                lengths[i + 1][j + 1] + 1
            } else {
                lengths[i + 1][j].max(lengths[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < rows && j < columns {
        if equal[i][j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[i + 1][j] >= lengths[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// Pairs equal elements of two sets; the rest goes, then comes.
pub(super) fn match_up(
    before: usize,
    after: usize,
    same: impl Fn(usize, usize) -> bool,
) -> Vec<Aligned> {
    let mut left: Vec<usize> = (0..after).collect();
    let mut matched: Vec<Aligned> = (0..before)
        .map(|i| {
            let found = left.iter().position(|j| same(i, *j));
            (Some(i), found.map(|at| left.remove(at)))
        })
        .collect();
    matched.extend(left.into_iter().map(|j| (None, Some(j))));
    matched
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `=a -b +c` for what stays, goes and comes.
    fn text(before: &str, after: &str, aligned: &[Aligned]) -> String {
        let (before, after): (Vec<char>, Vec<char>) =
            (before.chars().collect(), after.chars().collect());
        let word = |a: &Aligned| match *a {
            (Some(i), Some(j)) => {
                assert_eq!(before[i], after[j]);
                format!("={}", before[i])
            }
            (Some(i), None) => format!("-{}", before[i]),
            (None, Some(j)) => format!("+{}", after[j]),
            (None, None) => "?".to_owned(),
        };
        aligned.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn lists_are_aligned_by_what_they_have_in_common() {
        for (before, after, want) in [
            ("", "", ""),
            ("", "ab", "+a +b"),
            ("ab", "", "-a -b"),
            ("abc", "abc", "=a =b =c"),
            ("abc", "axc", "=a -b +x =c"),
            ("abc", "bcd", "-a =b =c +d"),
            ("abcabba", "cbabac", "-a -b =c -a =b +a =b =a +c"),
            ("aa", "aaa", "=a =a +a"),
            ("xay", "a", "-x =a -y"),
        ] {
            let (b, a): (Vec<char>, Vec<char>) =
                (before.chars().collect(), after.chars().collect());
            let aligned = align(b.len(), a.len(), |i, j| b[i] == a[j]);
            assert_eq!(text(before, after, &aligned), want, "{before} {after}");
        }
    }

    #[test]
    fn a_huge_middle_is_replaced_as_a_whole() {
        let aligned = align(3_001, 3_001, |i, j| i == 0 && j == 0);
        assert_eq!(aligned.len(), 6_001);
        assert_eq!(aligned[0], (Some(0), Some(0)));
    }

    #[test]
    fn sets_are_matched_in_any_order() {
        let (b, a): (Vec<char>, Vec<char>) = ("abc".chars().collect(), "cxa".chars().collect());
        let matched = match_up(3, 3, |i, j| b[i] == a[j]);
        assert_eq!(text("abc", "cxa", &matched), "=a -b =c +x");
    }
}
