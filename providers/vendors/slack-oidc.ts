import { isSameUri } from '../../schemas/values/uris.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import { baseUrl } from '../http/base-url.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'
import { verifyCallbackIdToken } from '../oidc/callback-id-token.ts'
import { slackProfile } from './slack-claims.ts'

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
