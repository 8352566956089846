/** Slack: its OpenID Connect provider, and the first version of its OAuth. */
import { isSameUri } from '../../schemas/values/uris.ts'
import { email, toProfileNames } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import { ProviderError } from '../core/provider-error.ts'
import type { Profile } from '../core/types.ts'
import { baseUrl } from '../http/base-url.ts'
import { asBoolean, asRecord, asText } from '../http/json.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'
import { verifyCallbackIdToken } from '../oidc/callback-id-token.ts'

export const slackOidc: NamedProviderDefinition = {
  name: 'Slack',
  docs: {
    title: 'Slack',
    register: 'https://api.slack.com/apps',
    steps: [
      'Create an app; under "OAuth & Permissions" add the redirect URI (https only).',
      'Add the user token scopes openid, email and profile.',
    ],
    scopes: 'profile email openid',
    url: 'replaces slack.com',
    notes: [],
  },

  create(settings, upstream) {
    const host = baseUrl(settings, 'https://slack.com')
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({
        authorize: `${host}/openid/connect/authorize`,
        token: `${host}/api/openid.connect.token`,
      }),
      scopes: ['profile', 'email', 'openid'],
      nonce: true,
      async profile(grant) {
        // The profile comes from userInfo; the id_token binds the code to this flow.
        if (grant.tokens.idToken !== '') {
          const accepts = (issuer: string) => isSameUri(issuer, host)
          await verifyCallbackIdToken(upstream.issuers, grant, { accepts, settings })
        }
        return slackProfile(await grant.get(`${host}/api/openid.connect.userInfo`), `${host}/api`)
      },
    })
  },
}

export const slack: NamedProviderDefinition = {
  name: 'Slack',
  docs: {
    title: 'Slack (old API)',
    register: 'https://api.slack.com/apps',
    steps: ['For apps that still use the first version of Slack OAuth.'],
    scopes: 'profile email openid',
    url: 'replaces slack.com',
    notes: ['Use slack_oidc for new apps.'],
  },

  create(settings, upstream) {
    const host = baseUrl(settings, 'https://slack.com')
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({
        authorize: `${host}/oauth/authorize`,
        token: `${host}/api/oauth.access`,
      }),
      scopes: ['profile', 'email', 'openid'],
      async profile({ get }) {
        const user = await get(`${host}/api/openid.connect.userInfo`)
        return slackProfile(user, `${host}/api`)
      },
    })
  },
}

const team = 'https://slack.com/team_id'

/** The profile in Slack's userInfo. Throws ProviderError profile for `ok: false`, which it sends with status 200. */
function slackProfile(body: unknown, iss: string): Profile {
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
