/** Ann, whom every make-believe provider knows, and how a provider's answers become hers. */
import type { Documented } from '../fake-provider.ts'

export interface Case {
  documented: Documented
  /** Every claim of the identity, given the origin of the fake. */
  claims(origin: string): Record<string, unknown>
  /** Where the address is not the only one. */
  emails?: object[]
}

export const email = 'ann@ex.test'
export const name = 'Ann Lee'
export const picture = 'https://i.test/p'
export const proven = { email, email_verified: true, phone_verified: false }

/** The claims of somebody named and pictured under all the usual names. */
export function known(id: string, named = name, pictured = picture) {
  return {
    ...{ sub: id, provider_id: id, name: named, full_name: named },
    ...(pictured && { picture: pictured, avatar_url: pictured }),
    ...proven,
  }
}

/** Slack's userInfo, the same for both of its providers. */
export const slackUser = {
  ok: true,
  'https://slack.com/user_id': 'U1',
  'https://slack.com/team_id': 'T1',
  ...{ email, email_verified: true, name, picture },
}
