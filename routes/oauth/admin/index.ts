/** OAuth clients, for admin tokens. */
import client from './client.ts'
import clients from './clients.ts'
import regenerateSecret from './regenerate-secret.ts'

export const oauthAdminRoutes = { clients, client, regenerateSecret }
