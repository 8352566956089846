import { baseUrl } from '../base-url.ts'
import { email, fullName, person } from '../identity.ts'
import { at, text } from '../json.ts'
import { oauth2Provider } from '../oauth2.ts'
import type { Vendor } from '../provider.ts'

const profileQuery =
  'projection=(id,firstName,lastName,profilePicture(displayImage~:playableStreams))'
const emailQuery = 'q=members&projection=(elements*(handle~))'

export const linkedin: Vendor = {
  name: 'LinkedIn',
  docs: {
    title: 'LinkedIn (old API)',
    register: 'https://www.linkedin.com/developers/apps',
    steps: ['For apps that still have the product "Sign In with LinkedIn" of before August 2023.'],
    scopes: 'r_emailaddress r_liteprofile',
    url: 'replaces api.linkedin.com',
    notes: ['LinkedIn gives new apps the OpenID Connect product only: use linkedin_oidc for them.'],
  },

  create(settings, upstream) {
    const api = baseUrl(settings, 'https://api.linkedin.com')
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({
        authorize: `${api}/oauth/v2/authorization`,
        token: `${api}/oauth/v2/accessToken`,
      }),
      scopes: ['r_emailaddress', 'r_liteprofile'],
      async profile({ get }) {
        const user = await get(`${api}/v2/me?${profileQuery}`)
        const addresses = await get(`${api}/v2/emailAddress?${emailQuery}`)
        const id = text(at(user, 'id'))
        const name = fullName(localized(at(user, 'firstName')), localized(at(user, 'lastName')))
        const images = at(user, 'profilePicture', 'displayImage~', 'elements')
        const picture = text(at(images, 0, 'identifiers', 0, 'identifier'))
        return {
          sub: id,
          claims: { ...person(id, name, picture), iss: api },
          emails: email(text(at(addresses, 'elements', 0, 'handle~', 'emailAddress')), {
            verified: true,
          }),
        }
      },
    })
  },
}

function localized(name: unknown): string {
  const language = text(at(name, 'preferredLocale', 'language'))
  const country = text(at(name, 'preferredLocale', 'country'))
  return text(at(name, 'localized', `${language}_${country}`))
}
