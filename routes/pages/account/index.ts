/** The account page and the pages behind it. */
import { connectedRoutes } from './connected.ts'
import { dataRoutes } from './data.ts'
import factors from './factors.ts'
import { identifierRoutes } from './identifiers.ts'
import { overviewRoutes } from './overview.ts'
import passkeys from './passkeys.ts'
import { passwordRoutes } from './password.ts'

export const accountPageRoutes = {
  ...overviewRoutes,
  ...identifierRoutes,
  ...passwordRoutes,
  factors,
  passkeys,
  ...connectedRoutes,
  ...dataRoutes,
}
