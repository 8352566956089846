import { email, toProfileNames } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import { baseUrl } from '../http/base-url.ts'
import { asText, getPath } from '../http/json.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'

const custom = ['broadcaster_type', 'description', 'type', 'offline_image_url', 'view_count']

export const twitch: NamedProviderDefinition = {
  name: 'Twitch',
  docs: {
    title: 'Twitch',
    register: 'https://dev.twitch.tv/console/apps',
    steps: [
      'Register an application of the category "Website Integration"; two-factor sign-in must be on.',
    ],
    scopes: 'user:read:email',
    url: 'replaces id.twitch.tv and api.twitch.tv',
    notes: [],
  },

  create(settings, upstream) {
    const web = baseUrl(settings, 'https://id.twitch.tv')
    const api = baseUrl(settings, 'https://api.twitch.tv')
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({ authorize: `${web}/oauth2/authorize`, token: `${web}/oauth2/token` }),
      scopes: ['user:read:email'],
      async profile({ get }) {
        const client = { 'client-id': settings.clientIds[0] ?? '' }
        const user = getPath(await get(`${api}/helix/users`, client), 'data', 0)
        const id = asText(getPath(user, 'id'))
        const nickname = asText(getPath(user, 'display_name'))
        const picture = asText(getPath(user, 'profile_image_url'))
        return {
          sub: id,
          claims: {
            ...toProfileNames(id, asText(getPath(user, 'login')), picture),
            iss: api,
            nickname,
            slug: nickname,
            custom_claims: Object.fromEntries(custom.map((name) => [name, getPath(user, name)])),
          },
          emails: email(asText(getPath(user, 'email')), { verified: true }),
        }
      },
    })
  },
}
