import {
  buildAssertion,
  buildSamlResponse,
  createIdp,
  type Idp,
  signed,
} from '../../test/support/saml/idp.ts'
import type { Scenario } from '../core/scenario.ts'
import type { Target } from '../core/target.ts'

/**
 * Responses are accepted for 90 s after they were issued and may be dated ahead: they are signed before the
 * measurement.
 */
const aheadMs = 150_000

/** An unsolicited signed response creates a session, one user per connection. */
export const samlAcs: Scenario = {
  name: 'saml-acs',
  async prepare(target, { connections, stock }) {
    const idp = createIdp()
    const { entityId, acsUrl } = await readServiceProvider(target)
    await target.call({
      method: 'POST',
      path: '/admin/sso/providers',
      token: target.adminToken(),
      body: { type: 'saml', metadata_xml: idp.metadata },
    })
    const forms = Array.from({ length: stock }, (_, i) => ({
      SAMLResponse: responseFor(idp, `user-${i % connections}`, { entityId, acsUrl }),
      RelayState: '',
    }))
    return {
      stock,
      request: (i) => ({ method: 'POST', path: '/sso/saml/acs', form: forms[i] ?? {} }),
      // With the session in the fragment; a rejected response has the error in the query.
      isGood: ({ headers }) => String(headers.location).includes('#access_token='),
    }
  },
}

interface ServiceProvider {
  entityId: string
  acsUrl: string
}

/** Its addresses, as it is known by its own metadata. */
async function readServiceProvider(target: Target): Promise<ServiceProvider> {
  const { body } = await target.send({ method: 'GET', path: '/sso/saml/metadata' })
  const attribute = (pattern: RegExp) => pattern.exec(body)?.[1] ?? ''
  return {
    entityId: attribute(/entityID="([^"]+)"/),
    acsUrl: attribute(/<AssertionConsumerService[^>]*HTTP-POST"[^>]*Location="([^"]+)"/),
  }
}

function responseFor(idp: Idp, nameId: string, { entityId, acsUrl }: ServiceProvider): string {
  const issuedAt = new Date(Date.now() + aheadMs)
  const options = {
    idp,
    nameId,
    issuedAt,
    audience: entityId,
    recipient: acsUrl,
    destination: acsUrl,
    attributes: { mail: [`${nameId}@corp.example`] },
    notBefore: new Date(),
    notOnOrAfter: new Date(Date.now() + 600_000),
  }
  const assertion = signed(buildAssertion(options), 'Assertion', idp)
  return Buffer.from(buildSamlResponse(options, assertion)).toString('base64')
}
