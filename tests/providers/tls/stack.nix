# A certificate authority, a request, and the certificate that answers it.
{
  n,
  plugin,
  steps,
  ...
}:
let
  tls = plugin "tls" { };
  make =
    type: name: config:
    n.resource {
      provider = tls;
      type = "tls_${type}";
      inherit name config;
    };
  key =
    name:
    make "private_key" name {
      algorithm = "ECDSA";
      ecdsa_curve = "P256";
    };
  authority = key "authority";
  server = key "server";
  root = make "self_signed_cert" "root" {
    private_key_pem = authority.ref "private_key_pem";
    is_ca_certificate = true;
    validity_period_hours = 12;
    early_renewal_hours = steps [
      0
      1
    ];
    allowed_uses = [ "cert_signing" ];
    subject = [ { common_name = "root"; } ];
  };
  request = make "cert_request" "request" {
    private_key_pem = server.ref "private_key_pem";
    dns_names = steps [
      [ "a.example" ]
      [ "a.example" ]
      [ "b.example" ]
    ];
    subject = [
      {
        common_name = "a.example";
        organization = "Example";
      }
    ];
  };
  public = n.data {
    provider = tls;
    type = "tls_public_key";
    name = "server";
    config.private_key_pem = server.ref "private_key_pem";
  };
in
{
  data = [ public ];
  resources = [
    authority
    server
    root
    request
    (make "locally_signed_cert" "server" {
      cert_request_pem = request.ref "cert_request_pem";
      ca_private_key_pem = authority.ref "private_key_pem";
      ca_cert_pem = root.ref "cert_pem";
      validity_period_hours = 6;
      allowed_uses = [
        "server_auth"
        "digital_signature"
      ];
    })
  ];
  outputs.algorithm = public.ref "algorithm";
}
