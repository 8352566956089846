import type { NamedProviderDefinition } from '../core/provider.ts'
import { baseUrl } from '../http/base-url.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'
import { slackProfile } from './slack-claims.ts'

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
