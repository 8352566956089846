/** Durations for the API, with labels. */
export const banDurations = [
  ['1h', 'an hour'],
  ['24h', 'a day'],
  ['168h', 'a week'],
  ['720h', '30 days'],
  ['8760h', 'a year'],
  ['876000h', 'good, until it is lifted'],
] as const
