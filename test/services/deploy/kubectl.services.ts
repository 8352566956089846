/** deploy/kubernetes, put together by kubectl. A cluster is not needed. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { parse, parseAllDocuments } from 'yaml'

import { missing } from '../programs.ts'

const root = join(import.meta.dirname, '../../..')

suite('kubectl', { skip: missing('kubectl') }, () => {
  test('kustomize renders each object of deploy/kubernetes, with the image of the version', () => {
    const folder = join(root, 'deploy/kubernetes')
    const text = execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8' })
    const objects = parseAllDocuments(text).map((document) => document.toJS())
    const { resources } = parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8'))
    assert.equal(objects.length, resources.length)
    for (const { metadata } of objects) assert.equal(metadata.namespace, 'postern')
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const [container] = objects.find(({ kind }) => kind === 'Deployment').spec.template.spec
      .containers
    assert.equal(container.image, `registry.example.com/postern:${version}`)
  })
})
