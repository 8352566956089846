import { baseUrl } from '../base-url.ts'
import { genericProfile } from '../generic-claims.ts'
import { email, person } from '../identity.ts'
import { at, text, unlessDenied } from '../json.ts'
import { oauth2Provider } from '../oauth2.ts'
import type { Vendor } from '../provider.ts'

const standard = 'https://accounts.snapchat.com'
const scopes = ['user.external_id', 'user.display_name', 'user.bitmoji.avatar'].map(
  (name) => `https://auth.snapchat.com/oauth2/api/${name}`,
)
const query = '{me { externalId displayName bitmoji { avatar id } email }}'

export const snapchat: Vendor = {
  name: 'Snapchat',
  docs: {
    title: 'Snapchat',
    register: 'https://kit.snapchat.com/manage',
    steps: [
      'Create an app with Login Kit for the web (confidential client), add the redirect URI.',
    ],
    scopes: scopes.join(' '),
    url: 'replaces accounts.snapchat.com and kit.snapchat.com',
    notes: ['Snapchat rarely tells an address: set AUTH_EXTERNAL_SNAPCHAT_EMAIL_OPTIONAL=true.'],
  },

  create(settings, upstream) {
    const accounts = `${baseUrl(settings, standard)}/accounts/oauth2`
    const me = `${baseUrl(settings, 'https://kit.snapchat.com')}/v1/me`
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({ authorize: `${accounts}/auth`, token: `${accounts}/token` }),
      scopes,
      async profile({ get }) {
        const reply = await get(`${me}?query=${encodeURIComponent(query)}`)
        const user = at(reply, 'data', 'me')
        const id = text(at(user, 'externalId'))
        const name = text(at(user, 'displayName'))
        const picture = text(at(user, 'bitmoji', 'avatar'))
        return {
          sub: id,
          claims: { ...person(id, name, picture), slug: name, iss: `${accounts}/token` },
          emails: email(text(at(user, 'email')), { verified: true }),
        }
      },
    })
  },

  idToken: {
    accepts: (issuer, settings) =>
      issuer === `${baseUrl(settings, standard)}/accounts/oauth2/token`,
    nonce: true,
    profile: (claims) => genericProfile(claims, { verified: unlessDenied(claims.email_verified) }),
  },
}
