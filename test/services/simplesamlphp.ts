/** SimpleSAMLphp as an identity provider, from Debian's package: its files, its web server, and a user in a browser. */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { toPem } from '../../providers/saml/signature.ts'
import type { Ending } from '../support/processes/ending.ts'
import { freePort } from '../support/processes/free-port.ts'
import { createIdp } from '../support/saml/idp.ts'
import { openBrowser } from './form-browser.ts'
import { createFolder, startProgram } from './programs.ts'

interface ServiceProviderOptions {
  entityId: string
  acsUrl: string
  logoutUrl: string
  /** PHP entries of `saml20-sp-remote.php`, such as `'assertion.encryption' => true`. */
  options: readonly string[]
  /** Base64 of DER. */
  certificate: string
}

const attributes = `'uid' => ['ann'], 'mail' => ['ann@corp.example'], 'cn' => ['Ann Lee'], 'groups' => ['a', 'b']`

export async function startSimpleSaml(t: Ending, sp: ServiceProviderOptions) {
  const [folder, port] = [createFolder(t), await freePort()]
  const base = `http://127.0.0.1:${port}/`
  for (const name of ['metadata', 'cert', 'log', 'data', 'tmp']) await mkdir(join(folder, name))
  const { privateKey, certificate } = createIdp()
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' })
  await writeFile(join(folder, 'cert/idp.key'), key)
  await writeFile(join(folder, 'cert/idp.crt'), toPem(certificate))
  for (const [name, text] of Object.entries(createFiles(folder, base, sp))) {
    await writeFile(join(folder, name), `<?php\n${text}\n`)
  }
  const www = '/usr/share/simplesamlphp/www'
  const serve = `SIMPLESAMLPHP_CONFIG_DIR=${folder} exec php -S 127.0.0.1:${port} -t ${www} 2>/dev/null`
  await startProgram(t, 'sh', ['-c', serve], port)
  const metadata = await fetch(`${base}saml2/idp/metadata.php`)
  assert.equal(metadata.status, 200)
  return { base, metadata: await metadata.text() }
}

function createFiles(
  folder: string,
  base: string,
  sp: ServiceProviderOptions,
): Record<string, string> {
  return {
    'config.php': `$config = [
      'baseurlpath' => '${base}', 'certdir' => '${folder}/cert/', 'loggingdir' => '${folder}/log/',
      'datadir' => '${folder}/data/', 'tempdir' => '${folder}/tmp', 'metadatadir' => '${folder}/metadata',
      'secretsalt' => 'only-for-tests', 'auth.adminpassword' => 'only-for-tests', 'timezone' => 'UTC',
      'technicalcontact_name' => 'Test', 'technicalcontact_email' => 'test@corp.example',
      'enable.saml20-idp' => true, 'module.enable' => ['exampleauth' => true, 'core' => true, 'saml' => true],
      'logging.handler' => 'file', 'store.type' => 'phpsession', 'session.cookie.secure' => false,
      'session.phpsession.savepath' => '${folder}/tmp', 'session.cookie.samesite' => null,
      'metadata.sources' => [['type' => 'flatfile']], 'trusted.url.domains' => ['127.0.0.1:9'], 'production' => false,
    ];`,
    'authsources.php': `$config = ['users' => ['exampleauth:UserPass', 'ann:secret' => [${attributes}]]];`,
    'metadata/saml20-idp-hosted.php': `$metadata['${base}idp'] = [
      'host' => '__DEFAULT__', 'privatekey' => 'idp.key', 'certificate' => 'idp.crt', 'auth' => 'users',
      'authproc' => [3 => ['class' => 'saml:AttributeNameID', 'attribute' => 'uid', 'identifyingAttribute' => 'uid',
        'Format' => 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent']],
      'signature.algorithm' => 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
      'sign.logout' => true, 'validate.logout' => true,
      'SingleSignOnServiceBinding' => ['urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect'],
    ];`,
    'metadata/saml20-sp-remote.php': `$metadata['${sp.entityId}'] = [
      'AssertionConsumerService' => '${sp.acsUrl}', 'validate.authnrequest' => true,
      'SingleLogoutService' => '${sp.logoutUrl}',
      'certData' => '${sp.certificate}', 'simplesaml.nameidattribute' => 'uid', ${sp.options.join(', ')}
    ];`,
  }
}

/** Signs in at the provider; returns the form that the browser posts at the end. */
export async function signInAt(url: string, browser = openBrowser()) {
  const { fields } = await browser.run({ action: url }, { username: 'ann', password: 'secret' })
  return fields
}
