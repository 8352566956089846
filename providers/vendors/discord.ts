import { baseUrl } from '../base-url.ts'
import { email, person } from '../identity.ts'
import { at, text, truth } from '../json.ts'
import { oauth2Provider } from '../oauth2.ts'
import type { Vendor } from '../provider.ts'

export const discord: Vendor = {
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
        const id = text(at(user, 'id'))
        const username = text(at(user, 'username'))
        const discriminator = text(at(user, 'discriminator')) || '0'
        const claims = person(id, `${username}#${discriminator}`, avatarOf(user, discriminator))
        const custom_claims = { global_name: text(at(user, 'global_name')) }
        return {
          sub: id,
          claims: { ...claims, full_name: username, iss: api, custom_claims },
          emails: email(text(at(user, 'email')), { verified: truth(at(user, 'verified')) }),
        }
      },
    })
  },
}

function avatarOf(user: unknown, discriminator: string): string {
  const avatar = text(at(user, 'avatar'))
  const cdn = 'https://cdn.discordapp.com'
  if (avatar === '') return `${cdn}/embed/avatars/${Number(discriminator) % 5 || 0}.png`
  // Animated avatars are marked so.
  const extension = avatar.startsWith('a_') ? 'gif' : 'png'
  return `${cdn}/avatars/${text(at(user, 'id'))}/${avatar}.${extension}`
}
