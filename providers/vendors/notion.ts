import { email, toProfileNames } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import { baseUrl } from '../http/base-url.ts'
import { asText, getPath } from '../http/json.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'

export const notion: NamedProviderDefinition = {
  name: 'Notion',
  docs: {
    title: 'Notion',
    register: 'https://www.notion.so/profile/integrations',
    steps: [
      'Create a public integration and add the redirect URI.',
      'Under "Capabilities" choose "Read user information including email addresses".',
    ],
    scopes: 'none',
    url: 'replaces api.notion.com',
    notes: ['Extra scopes are ignored: Notion has none.'],
  },

  create(settings, upstream) {
    const api = baseUrl(settings, 'https://api.notion.com')
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({
        authorize: `${api}/v1/oauth/authorize`,
        token: `${api}/v1/oauth/token`,
      }),
      scopes: [],
      extraScopes: false,
      async profile({ get }) {
        const bot = await get(`${api}/v1/users/me`, { 'notion-version': '2021-08-16' })
        const user = getPath(bot, 'bot', 'owner', 'user')
        const id = asText(getPath(user, 'id'))
        const picture = asText(getPath(user, 'avatar_url'))
        return {
          sub: id,
          claims: { ...toProfileNames(id, asText(getPath(user, 'name')), picture), iss: api },
          emails: email(asText(getPath(user, 'person', 'email')), { verified: true }),
        }
      },
    })
  },
}
