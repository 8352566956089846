import { baseUrl } from '../base-url.ts'
import { email, person } from '../identity.ts'
import { at, text } from '../json.ts'
import { oauth2Provider } from '../oauth2.ts'
import type { Vendor } from '../provider.ts'

export const notion: Vendor = {
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
        const user = at(bot, 'bot', 'owner', 'user')
        const id = text(at(user, 'id'))
        const picture = text(at(user, 'avatar_url'))
        return {
          sub: id,
          claims: { ...person(id, text(at(user, 'name')), picture), iss: api },
          emails: email(text(at(user, 'person', 'email')), { verified: true }),
        }
      },
    })
  },
}
