/** The documents of every parser, and a server that reads them. */
import { oauthServer } from '../oauth-server.ts'
import { samlOn } from '../saml/server.ts'
import { addClient, scimOn } from '../scim/clients.ts'
import type { App } from '../server.ts'
import { clientKeyLoads, documentLoads } from './documents.ts'
import { importLoads, jsonLoads } from './json.ts'
import type { Load } from './load.ts'
import { scimLoads } from './scim.ts'
import { xmlLoads } from './xml.ts'

export const budgetEnv = {
  ...oauthServer,
  ...samlOn,
  ...scimOn,
  AUTH_SAML_ALLOW_ENCRYPTED_ASSERTIONS: 'true',
}

export async function listLoads(app: App): Promise<Map<string, Load[]>> {
  const loads = [
    ...(await xmlLoads(app)),
    ...(await scimLoads(app, await addClient(app, 'corp.test'))),
    ...jsonLoads(app),
    ...importLoads(app),
    ...documentLoads(),
    ...(await clientKeyLoads(app)),
  ]
  return Map.groupBy(loads, ({ parser }) => parser)
}
