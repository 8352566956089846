import { baseUrl } from '../base-url.ts'
import { email, person } from '../identity.ts'
import { at, text } from '../json.ts'
import { oauth2Provider } from '../oauth2.ts'
import type { Vendor } from '../provider.ts'

const custom = ['broadcaster_type', 'description', 'type', 'offline_image_url', 'view_count']

export const twitch: Vendor = {
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
        const user = at(await get(`${api}/helix/users`, client), 'data', 0)
        const id = text(at(user, 'id'))
        const nickname = text(at(user, 'display_name'))
        const picture = text(at(user, 'profile_image_url'))
        return {
          sub: id,
          claims: {
            ...person(id, text(at(user, 'login')), picture),
            iss: api,
            nickname,
            slug: nickname,
            custom_claims: Object.fromEntries(custom.map((name) => [name, at(user, name)])),
          },
          emails: email(text(at(user, 'email')), { verified: true }),
        }
      },
    })
  },
}
