import { email, toProfileNames } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import { baseUrl } from '../http/base-url.ts'
import { asBoolean, asText, getPath } from '../http/json.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'

export const discord: NamedProviderDefinition = {
  name: 'Discord',
  docs: {
    title: 'Discord',
    register: 'https://discord.com/developers/applications',
    steps: ['Create an application and open "OAuth2"; add the redirect URI there.'],
    scopes: 'email identify',
    url: 'replaces discord.com',
    notes: [],
  },

  create(settings, upstream) {
    const api = `${baseUrl(settings, 'https://discord.com')}/api`
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({ authorize: `${api}/oauth2/authorize`, token: `${api}/oauth2/token` }),
      scopes: ['email', 'identify'],
      async profile({ get }) {
        const user = await get(`${api}/users/@me`)
        const id = asText(getPath(user, 'id'))
        const username = asText(getPath(user, 'username'))
        const discriminator = asText(getPath(user, 'discriminator')) || '0'
        const claims = toProfileNames(
          id,
          `${username}#${discriminator}`,
          getAvatarUrl(user, discriminator),
        )
        const custom_claims = { global_name: asText(getPath(user, 'global_name')) }
        return {
          sub: id,
          claims: { ...claims, full_name: username, iss: api, custom_claims },
          emails: email(asText(getPath(user, 'email')), {
            verified: asBoolean(getPath(user, 'verified')),
          }),
        }
      },
    })
  },
}

function getAvatarUrl(user: unknown, discriminator: string): string {
  const avatar = asText(getPath(user, 'avatar'))
  const cdn = 'https://cdn.discordapp.com'
  if (avatar === '') return `${cdn}/embed/avatars/${Number(discriminator) % 5 || 0}.png`
  // Animated avatars have this prefix.
  const extension = avatar.startsWith('a_') ? 'gif' : 'png'
  return `${cdn}/avatars/${asText(getPath(user, 'id'))}/${avatar}.${extension}`
}
