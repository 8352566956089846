/** Durations for the API, with labels. */
export const banDurations = [
  ['1h', '1 hour'],
  ['24h', '1 day'],
  ['168h', '1 week'],
  ['720h', '30 days'],
  ['8760h', '1 year'],
  ['876000h', 'Until it is lifted'],
] as const
