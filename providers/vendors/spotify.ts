import { baseUrl } from '../base-url.ts'
import { email, person } from '../identity.ts'
import { at, list, text } from '../json.ts'
import { oauth2Provider } from '../oauth2.ts'
import type { Vendor } from '../provider.ts'

export const spotify: Vendor = {
  name: 'Spotify',
  docs: {
    title: 'Spotify',
    register: 'https://developer.spotify.com/dashboard',
    steps: ['Create an app for the Web API and add the redirect URI.'],
    scopes: 'user-read-email',
    url: 'replaces accounts.spotify.com and api.spotify.com/v1',
    notes: [
      'Spotify does not prove addresses, so none counts as verified: people get a confirmation mail first.',
    ],
  },

  create(settings, upstream) {
    const accounts = baseUrl(settings, 'https://accounts.spotify.com')
    const api = baseUrl(settings, 'https://api.spotify.com/v1')
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({ authorize: `${accounts}/authorize`, token: `${accounts}/api/token` }),
      scopes: ['user-read-email'],
      pkce: true,
      async profile({ get }) {
        const user = await get(`${api}/me`)
        const id = text(at(user, 'id'))
        const name = text(at(user, 'display_name'))
        return {
          sub: id,
          claims: { ...person(id, name, largest(list(at(user, 'images')))), iss: api },
          emails: email(text(at(user, 'email')), { verified: false }),
        }
      },
    })
  },
}

function largest(images: unknown[]): string {
  const size = (image: unknown) => Number(at(image, 'width')) * Number(at(image, 'height')) || 0
  const [first] = images.toSorted((a, b) => size(b) - size(a))
  return text(at(first, 'url'))
}
