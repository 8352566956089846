/** Slack's userInfo, for both of its providers. */
import { email, toProfileNames } from '../core/identity.ts'
import { ProviderError } from '../core/provider-error.ts'
import type { Profile } from '../core/types.ts'
import { asBoolean, asRecord, asText } from '../http/json.ts'

const team = 'https://slack.com/team_id'

/** Throws ProviderError profile for `ok: false`, which Slack sends with status 200. */
export function slackProfile(body: unknown, iss: string): Profile {
  const user = asRecord(body)
  if (user.ok === false) throw new ProviderError('profile', 'userInfo returned ok: false')
  const id = asText(user['https://slack.com/user_id']) || asText(user.sub)
  return {
    sub: id,
    claims: {
      ...toProfileNames(id, asText(user.name), asText(user.picture)),
      iss,
      custom_claims: { [team]: asText(user[team]) },
    },
    emails: email(asText(user.email), { verified: asBoolean(user.email_verified) }),
  }
}
