import { email, toProfileNames } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import { baseUrl } from '../http/base-url.ts'
import { asText, getPath } from '../http/json.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'

const fields = 'id,name,username,confirmed_email,profile_image_url,url,created_at'

export const x: NamedProviderDefinition = {
  name: 'X',
  docs: {
    title: 'X (OAuth 2)',
    register: 'https://developer.x.com/en/portal/projects-and-apps',
    steps: [
      'In "User authentication settings" choose "Web App" (confidential), add the redirect URI, and turn "Request email from users" on.',
      'Use the OAuth 2.0 client id and client secret, not the consumer keys.',
    ],
    scopes: 'users.email tweet.read users.read offline.access',
    url: 'replaces x.com and api.x.com',
    notes: [],
  },

  create(settings, upstream) {
    const api = baseUrl(settings, 'https://api.x.com')
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({
        authorize: `${baseUrl(settings, 'https://x.com')}/i/oauth2/authorize`,
        token: `${api}/2/oauth2/token`,
      }),
      scopes: ['users.email', 'tweet.read', 'users.read', 'offline.access'],
      pkce: true,
      async profile({ get }) {
        const user = getPath(await get(`${api}/2/users/me?user.fields=${fields}`), 'data')
        const id = asText(getPath(user, 'id'))
        const username = asText(getPath(user, 'username'))
        const created_at = asText(getPath(user, 'created_at'))
        return {
          sub: id,
          claims: {
            ...toProfileNames(
              id,
              asText(getPath(user, 'name')),
              asText(getPath(user, 'profile_image_url')),
            ),
            iss: api,
            preferred_username: username,
            user_name: username,
            profile: username && `https://x.com/${username}`,
            website: asText(getPath(user, 'url')),
            ...(created_at !== '' && { custom_claims: { created_at } }),
          },
          emails: email(asText(getPath(user, 'confirmed_email')), { verified: true }),
        }
      },
    })
  },
}
