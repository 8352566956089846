/** Ann, a user of each fake provider, and the mapping of responses to her claims. */
import type { Documented } from '../fake-provider.ts'

export interface Case {
  documented: Documented
  /** Each claim of the identity, given the origin of the fake. */
  claims(origin: string): Record<string, unknown>
  /** When there is more than one email. */
  emails?: object[]
}

export const email = 'ann@ex.test'
export const name = 'Ann Lee'
export const picture = 'https://i.test/p'
export const verified = { email, email_verified: true, phone_verified: false }

/** The claims of a user named and pictured under all the usual names. */
export function known(id: string, named = name, pictured = picture) {
  return {
    sub: id,
    provider_id: id,
    name: named,
    full_name: named,
    ...(pictured && { picture: pictured, avatar_url: pictured }),
    ...verified,
  }
}

/** Slack's userInfo, the same for both of its providers. */
export const slackUser = {
  ok: true,
  'https://slack.com/user_id': 'U1',
  'https://slack.com/team_id': 'T1',
  email,
  email_verified: true,
  name,
  picture,
}
