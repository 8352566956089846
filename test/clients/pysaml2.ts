/** pysaml2 from the Python package index, and keys for it. */
import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { toPem } from '../../providers/saml/signature.ts'
import type { Idp } from '../support/saml/idp.ts'

/** Returns the Python that has it. Throws without the package index. */
export function installPysaml2(folder: string): string {
  execFileSync('python3', ['-m', 'venv', join(folder, 'venv')])
  const python = join(folder, 'venv/bin/python')
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
  execFileSync(python, [...install, 'pysaml2>=7.5,<8'], { stdio: 'inherit' })
  return python
}

export async function writeKeys(
  folder: string,
  name: string,
  { privateKey, certificate }: Pick<Idp, 'privateKey' | 'certificate'>,
): Promise<void> {
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' })
  await writeFile(join(folder, `${name}.key`), key)
  await writeFile(join(folder, `${name}.crt`), toPem(certificate))
}
