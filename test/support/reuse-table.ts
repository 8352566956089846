/** The rules for a refresh token that comes back, row by row. */

/** Tokens are numbered in the order in which they were given out; the last one is the active one. */
export interface Reuse {
  env?: Record<string, string>
  /** Refreshes before, each with the newest token. */
  refreshes: number
  /** Seconds after the last of them. */
  after: number
  /** Which token is presented. */
  presents: number
  /** Which token comes back, or the error. */
  answer: number | 'refresh_token_already_used'
  /** Whether the session and the newest token still work afterwards. */
  survives: boolean
}

const used = 'refresh_token_already_used' as const
const untilUsed = { AUTH_SECURITY_REFRESH_TOKEN_REUSE_UNTIL_USED: 'true' }
const longer = { AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: '60' }
const never = { AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: '0' }
const noRotation = { AUTH_SECURITY_REFRESH_TOKEN_ROTATION_ENABLED: 'false' }

export const reuses: Record<string, Reuse> = {
  'the active token gives a child': {
    refreshes: 1,
    after: 0,
    presents: 1,
    answer: 2,
    survives: true,
  },
  'the active token does so after a month': {
    refreshes: 1,
    after: 2_592_000,
    presents: 1,
    answer: 2,
    survives: true,
  },
  'the token before, at once: the active child': {
    refreshes: 1,
    after: 0,
    presents: 0,
    answer: 1,
    survives: true,
  },
  'the token before, at the end of the interval': {
    refreshes: 3,
    after: 10,
    presents: 2,
    answer: 3,
    survives: true,
  },
  'the token before, after the interval': {
    refreshes: 1,
    after: 11,
    presents: 0,
    answer: used,
    survives: false,
  },
  'an older token, at once': { refreshes: 2, after: 0, presents: 0, answer: used, survives: false },
  'an older token, a month later': {
    refreshes: 5,
    after: 2_592_000,
    presents: 1,
    answer: used,
    survives: false,
  },
  'a longer interval': {
    env: longer,
    refreshes: 1,
    after: 60,
    presents: 0,
    answer: 1,
    survives: true,
  },
  'after a longer interval': {
    env: longer,
    refreshes: 1,
    after: 61,
    presents: 0,
    answer: used,
    survives: false,
  },
  'no interval': { env: never, refreshes: 1, after: 1, presents: 0, answer: used, survives: false },
  'until used: the token before, a month later': {
    env: untilUsed,
    refreshes: 1,
    after: 2_592_000,
    presents: 0,
    answer: 1,
    survives: true,
  },
  'until used: the child has been used': {
    env: untilUsed,
    refreshes: 2,
    after: 0,
    presents: 0,
    answer: used,
    survives: false,
  },
  'no rotation: the token before, inside the interval': {
    env: noRotation,
    refreshes: 1,
    after: 10,
    presents: 0,
    answer: 1,
    survives: true,
  },
  'no rotation: the token before, after the interval': {
    env: noRotation,
    refreshes: 1,
    after: 11,
    presents: 0,
    answer: used,
    survives: true,
  },
  'no rotation: an older token': {
    env: noRotation,
    refreshes: 2,
    after: 0,
    presents: 0,
    answer: used,
    survives: true,
  },
}
