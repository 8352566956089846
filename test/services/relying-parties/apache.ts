/** Apache with mod_auth_openidc from Debian’s packages, in front of one page. */
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Ending } from '../../support/processes/ending.ts'
import { createFolder, startProgram } from '../programs.ts'

const modules = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'env', 'dir', 'include']

interface ApacheOptions {
  port: number
  issuer: string
  clientId: string
  clientSecret: string
}

/** Serves a page that shows REMOTE_USER and the email, to users whom the provider signed in. */
export async function startApache(
  t: Ending,
  { port, issuer, clientId, clientSecret }: ApacheOptions,
): Promise<void> {
  const folder = createFolder(t)
  const site = join(folder, 'www')
  await mkdir(site)
  // The workers run as www-data and create their mutexes here.
  await chmod(folder, 0o777)
  const shown = '<p id="user"><!--#echo var="REMOTE_USER" --></p>'
  const email = '<p id="email"><!--#echo var="OIDC_CLAIM_email" --></p>'
  await writeFile(join(site, 'index.shtml'), shown + email)
  const file = join(folder, 'apache.conf')
  await writeFile(
    file,
    [
      'ServerRoot /usr/lib/apache2',
      'ServerName 127.0.0.1',
      `Listen 127.0.0.1:${port}`,
      `PidFile ${folder}/pid`,
      `ErrorLog ${folder}/error.log`,
      `Mutex default:${folder}`,
      ...(process.getuid?.() === 0 ? ['User www-data'] : []),
      ...modules.map((name) => `LoadModule ${name}_module modules/mod_${name}.so`),
      'LoadModule auth_openidc_module modules/mod_auth_openidc.so',
      `DocumentRoot ${site}`,
      'DirectoryIndex index.shtml',
      `OIDCProviderMetadataURL ${issuer}/.well-known/openid-configuration`,
      `OIDCClientID ${clientId}`,
      `OIDCClientSecret ${clientSecret}`,
      `OIDCRedirectURI http://127.0.0.1:${port}/callback`,
      'OIDCCryptoPassphrase only-for-tests',
      'OIDCScope "openid email profile"',
      'OIDCPKCEMethod S256',
      '<Location />\nAuthType openid-connect\nRequire valid-user\nOptions +Includes\nSetOutputFilter INCLUDES\n</Location>',
    ].join('\n'),
  )
  // SIGKILL would leave its workers behind.
  await startProgram(t, 'apache2', ['-f', file, '-DFOREGROUND'], port, 'SIGTERM')
}
