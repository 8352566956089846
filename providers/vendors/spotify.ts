import { email, toProfileNames } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import { baseUrl } from '../http/base-url.ts'
import { asList, asText, getPath } from '../http/json.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'

export const spotify: NamedProviderDefinition = {
  name: 'Spotify',
  docs: {
    title: 'Spotify',
    register: 'https://developer.spotify.com/dashboard',
    steps: ['Create an app for the Web API and add the redirect URI.'],
    scopes: 'user-read-email',
    url: 'replaces accounts.spotify.com and api.spotify.com/v1',
    notes: ['Spotify does not verify email addresses: users get a confirmation email first.'],
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
        const id = asText(getPath(user, 'id'))
        const name = asText(getPath(user, 'display_name'))
        return {
          sub: id,
          claims: {
            ...toProfileNames(id, name, largest(asList(getPath(user, 'images')))),
            iss: api,
          },
          emails: email(asText(getPath(user, 'email')), { verified: false }),
        }
      },
    })
  },
}

function largest(images: unknown[]): string {
  const size = (image: unknown) =>
    Number(getPath(image, 'width')) * Number(getPath(image, 'height')) || 0
  const [first] = images.toSorted((a, b) => size(b) - size(a))
  return asText(getPath(first, 'url'))
}
