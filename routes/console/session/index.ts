/** How a browser obtains a token for the admin API. */
import firstAdmin from './first-admin.ts'
import session from './session.ts'

export const sessionRoutes = { session, firstAdmin }
