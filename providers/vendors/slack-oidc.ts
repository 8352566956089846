import { baseUrl } from '../base-url.ts'
import { verifyCallbackIdToken } from '../callback-id-token.ts'
import { truth } from '../json.ts'
import { oauth2Provider } from '../oauth2.ts'
import type { Vendor } from '../provider.ts'
import { slackProfile } from './slack-claims.ts'

export const slackOidc: Vendor = {
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
        // The person is read from userInfo; the id_token proves that the code is of this flow.
        if (grant.tokens.idToken !== '') {
          const accepts = (issuer: string) => issuer === host
          await verifyCallbackIdToken(upstream.issuers, grant, { accepts, settings })
        }
        return slackProfile(
          await grant.get(`${host}/api/openid.connect.userInfo`),
          `${host}/api`,
          truth,
        )
      },
    })
  },
}
