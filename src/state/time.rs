//! Times for people and other programs: RFC 3339, UTC, whole seconds.

use std::time::{SystemTime, UNIX_EPOCH};

/// `2026-01-02T03:04:05Z`; a time before 1970 counts as 1970.
pub fn rfc3339(time: SystemTime) -> String {
    let seconds = time
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let (year, month, day) = civil(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day of a count of days since 1970-01-01, in the Gregorian calendar.
///
/// Years are taken to begin in March: then the leap day comes last, and the months from March on have 31, 30, 31, 30, 31
/// days over and over, that is (153 m + 2) / 5 days before month m.
fn civil(days: u64) -> (u64, u64, u64) {
    /// From 0000-03-01 to 1970-01-01.
    const EPOCH: u64 = 719_468;
    const FOUR_CENTURIES: u64 = 146_097;
    let (era, day_of_era) = (
        (days + EPOCH) / FOUR_CENTURIES,
        (days + EPOCH) % FOUR_CENTURIES,
    );
    let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn known_times() {
        let table = [
            (0, "1970-01-01T00:00:00Z"),
            (68_169_599, "1972-02-28T23:59:59Z"),
            (68_169_600, "1972-02-29T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_000_000_000, "2001-09-09T01:46:40Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (1_735_689_600, "2025-01-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ];
        for (seconds, expected) in table {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut last = (1969, 12, 31);
        for day in 0..200_000 {
            let (year, month, day) = civil(day);
            let expected = match last {
                (y, 12, 31) => (year == y + 1, month == 1, day == 1),
                (y, m, d) if day == 1 => (year == y, month == m + 1, d >= 28),
                (y, m, d) => (year == y, month == m, day == d + 1),
            };
            assert_eq!(
                expected,
                (true, true, true),
                "{last:?} then {:?}",
                (year, month, day)
            );
            last = (year, month, day);
        }
    }
}
