/** Slack's userInfo, for both of its providers. */
import { email, toProfileNames } from '../core/identity.ts'
import { ProviderError } from '../core/provider-error.ts'
import type { Profile } from '../core/types.ts'
import { asBoolean, record, text } from '../http/json.ts'

const team = 'https://slack.com/team_id'

/** Throws ProviderError profile for `ok: false`, which Slack sends with status 200. */
export function slackProfile(body: unknown, iss: string): Profile {
  const user = record(body)
  if (user.ok === false) throw new ProviderError('profile', 'userInfo returned ok: false')
  const id = text(user['https://slack.com/user_id']) || text(user.sub)
  return {
    sub: id,
    claims: {
      ...toProfileNames(id, text(user.name), text(user.picture)),
      iss,
      custom_claims: { [team]: text(user[team]) },
    },
    emails: email(text(user.email), { verified: asBoolean(user.email_verified) }),
  }
}
